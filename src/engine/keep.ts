/** Which of equal rows stays: the first, the last, or none of them. */
export type Keep = "first" | "last" | "none";
