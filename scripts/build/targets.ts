/** The machines that the program is built for, by the names that Bun has for them. */
export const TARGETS = [
  'bun-linux-x64',
  'bun-linux-arm64',
  'bun-linux-x64-musl',
  'bun-linux-arm64-musl',
  'bun-darwin-x64',
  'bun-darwin-arm64',
  'bun-windows-x64',
  'bun-windows-arm64',
] as const;

/** One of `TARGETS`. */
export type Target = (typeof TARGETS)[number];

/** The bytes that a program may add to Bun's executable (`docs/decisions/0010-size-of-the-program.md`). */
export const OWN_BYTES_MAX = 12_100_000;

/** How the build is called. */
export const USAGE = `npm run build [-- --target=TARGET]

Without a target: dist/vault for this machine, and the package that others embed (dist/index.js and what it names).
With one: only the program for that machine, dist/vault-…; Bun's executable for it comes from the package registry.

Targets:
${TARGETS.map((name) => `  ${name}`).join('\n')}
`;

/** The target on the command line; undefined stands for this machine. Throws in words for an unknown one. */
export function readTarget(words: readonly string[]): Target | undefined {
  const [first, ...others] = words;
  if (first === undefined) return undefined;
  const name = /^--target=(.*)$/.exec(first)?.[1];
  if (name === undefined || others.length > 0) throw new Error(`This is not understood: ${words.join(' ')}`);
  const target = TARGETS.find((known) => known === name);
  if (target === undefined) throw new Error(`Unknown target: ${name || '(none)'}`);
  return target;
}

/** The target's name without `bun-`, or that of this machine. */
export function nameOf(target: Target | undefined): string {
  return (
    target?.replace(/^bun-/, '') ?? `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  );
}

/** The program's file in `dist`: Bun's programs for Windows end in `.exe`. */
export function programName(target: Target | undefined, platform: NodeJS.Platform = process.platform): string {
  if (target === undefined) return platform === 'win32' ? 'vault.exe' : 'vault';
  const name = `vault-${nameOf(target)}`;
  return target.startsWith('bun-windows') ? `${name}.exe` : name;
}
