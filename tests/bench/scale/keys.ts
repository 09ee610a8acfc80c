/** 2^31 − 1; the fifth power is a permutation of the numbers below it. */
const PRIME = 2_147_483_647;
const STEP = 48_271;
/** One factor for each word of a key. */
const FACTORS = [1, 16_807, 69_621, 630_360_016, 742_938_285, 950_706_376, 1_226_874_159, 62_089_911];

/** SQL of a number that scatters `n` over 31 bits, another for each `n`: it needs the columns of `SCATTERED`. */
const word = (factor: number) => `(h * ${factor}) % ${PRIME}`;

/** A table of `n` and its scattered `h`, for all `n` in `:first` … `:last`. */
export const SCATTERED = `WITH RECURSIVE numbers (n) AS (SELECT :first UNION ALL SELECT n + 1 FROM numbers WHERE n < :last),
  one AS (SELECT n, (n * ${STEP}) % ${PRIME} AS z FROM numbers),
  four AS (SELECT n, z, (((z * z) % ${PRIME}) * ((z * z) % ${PRIME})) % ${PRIME} AS z4 FROM one),
  scattered AS MATERIALIZED (SELECT n, (z4 * z) % ${PRIME} AS h FROM four)`;

/** SQL of a key of `words` × 8 hex digits; keys of another `kind` sort otherwise. */
export function hexSql(words: number, kind: number): string {
  const all = Array.from({ length: words }, (_, at) => word(factorOf(kind, at)));
  return `printf('${'%08x'.repeat(words)}', ${all.join(', ')})`;
}

/** The same key as a string. */
export function hexOf(n: number, words: number, kind: number): string {
  const prime = BigInt(PRIME);
  const z = (BigInt(n) * BigInt(STEP)) % prime;
  const h = z ** 5n % prime;
  const all = Array.from({ length: words }, (_, at) => (h * BigInt(factorOf(kind, at))) % prime);
  return all.map((one) => one.toString(16).padStart(8, '0')).join('');
}

function factorOf(kind: number, at: number): number {
  return FACTORS[(kind + at) % FACTORS.length] ?? 1;
}

/** The kinds of keys of a registration. */
export const KINDS = { credential: 0, account: 1, did: 2, alias: 3, transaction: 4, identifier: 5, block: 6 } as const;

/** The credential of registration `n`. */
export function credentialOf(n: number): string {
  return hexOf(n, 4, KINDS.credential);
}
