/** The origin of a program's build, the same for every machine. */
export interface Built {
  /** The commit; it ends in `+changes` if files differed from it. Null outside a repository. */
  readonly commit: string | null;
  /** The commit's time, or `SOURCE_DATE_EPOCH`: never that of the build. */
  readonly date: string | null;
  /** The public key that checks the releases, as minisign writes it. Null in a build of one's own. */
  readonly publicKey: string | null;
}

declare const VAULT_BUILT: Built | undefined;

/** The facts that `scripts/build/program.ts` puts into the program; undefined when it runs from its sources. */
export const BUILT: Built | undefined = typeof VAULT_BUILT === 'undefined' ? undefined : VAULT_BUILT;
