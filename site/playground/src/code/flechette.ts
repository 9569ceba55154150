/** `@uwdata/flechette` for programs of the view Code, as the library's workers have it. */
export * from "@uwdata/flechette";
