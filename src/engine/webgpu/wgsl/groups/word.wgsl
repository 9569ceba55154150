// Tables whose slots are words: for modules with direct/cas.wgsl. A fragment.

alias Word = u32;
