/**
 * The path of the ready-made database inside the program; none when run from source. The build replaces this file
 * (`scripts/build.ts`).
 */
export const READY_MADE: string | undefined = undefined;
