/** The paths at which the compiled program finds its served files; undefined when run from the sources. The build replaces this file (`scripts/build.ts`). */
export const EMBEDDED: Readonly<Record<string, string>> | undefined = undefined;
