// For group-cache.wgsl, where all groups are known. A fragment.

fn isFutile() -> bool { return false; }

fn replicaBits() -> u32 { return params.replicas; }

fn ended(local: u32) {}
