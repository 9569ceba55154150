/** A column that is right, and of a kind that is not read: the file is not damaged. */
export class NotSupported extends Error {
  /** Says so on other threads, too, where errors lose their class. */
  readonly isNotSupported = true;

  /** @param problem goes behind the column's name: "has values encoded by X" */
  constructor(
    problem: string,
    /** The column inside its column, where it is known. */
    readonly path?: readonly string[],
  ) {
    super(problem);
  }
}

export function isNotSupported(error: unknown): error is NotSupported {
  return error instanceof Error && "isNotSupported" in error;
}

/** The error for an encoding; one that the format does not have is damage. */
export function unknownEncoding(what: string, encoding: string | undefined): Error {
  if (encoding === undefined)
    return new Error(`its ${what} are encoded in a way that the format does not have`);
  return new NotSupported(`has ${what} encoded by ${encoding}`);
}
