import { VERSION } from '../lib/base/version.ts';
import { type Arguments, UsageError } from './cli/arguments.ts';
import type { Command } from './cli/command.ts';
import { HELP, JSON_OUTPUT, option } from './cli/options.ts';
import { print, printAnswer } from './cli/print.ts';
import { BUILT } from './release/built.ts';

/** `vault version`. */
export const versionCommand: Command = {
  summary: 'prints the release, its commit and its build, or checks a download',
  options: [
    option('--verify <file>', 'check this download: the signature of SHA256SUMS, then the file against it'),
    option('--sums <file>', 'the list of sums [SHA256SUMS beside the download]'),
    option('--signature <file>', 'its signature [the list of sums, with .minisig]'),
    option('--public-key <key>', 'the public key of the signer, RW…, or a file with it [the one in this program]'),
    JSON_OUTPUT,
    HELP,
  ],
  usesSettings: false,
  examples: ['vault version --verify vault-0.2.0-linux-x64', 'vault version --json'],
  exitCodes: '0 success, 1 the download must not be used, 2 invalid usage or an unreadable file',
  run: (given) => (given.options['verify'] === undefined ? printBuilt(given) : verify(given, given.options['verify'])),
};

/** Prints the release. */
export function printVersion(): number {
  print(`vault ${VERSION}`);
  return 0;
}

async function printBuilt(given: Arguments): Promise<number> {
  const stray = ['sums', 'signature', 'public-key'].find((name) => given.options[name] !== undefined);
  if (stray !== undefined) throw new UsageError(`--${stray} belongs to --verify.`);
  const { commit = null, date = null, publicKey = null } = BUILT ?? {};
  const target = (await import('./release/target-name.ts')).targetName();
  printAnswer(given, { version: VERSION, commit, date, bun: Bun.version, target, publicKey }, () =>
    [
      `vault ${VERSION}`,
      BUILT === undefined ? 'runs from its sources' : `commit  ${commit ?? 'unknown'}`,
      ...(date === null ? [] : [`date    ${date}`]),
      `target  ${target}`,
      `Bun     ${Bun.version}`,
      ...(publicKey === null ? [] : [`key     ${publicKey}`]),
    ].join('\n'),
  );
  return 0;
}

async function verify(given: Arguments, file: string): Promise<number> {
  const { sums, signature, 'public-key': key = BUILT?.publicKey } = given.options;
  if (!key) throw new UsageError('--verify needs --public-key: this program is a build of its own and knows no key.');
  const { verifyDownload } = await import('./release/verify-download.ts');
  const verdict = await verifyDownload({ file, sums, signature, key });
  printAnswer(given, verdict, () =>
    verdict.ok
      ? `✓ ${file} is ${verdict.name} of the release (${verdict.comment})`
      : `✗ ${file} must not be used: ${verdict.problem}`,
  );
  return verdict.ok ? 0 : 1;
}
