import { VERSION } from '../../lib/base/version.ts';
import type { Commit } from '../build/read-commit.ts';
import type { Target } from '../build/targets.ts';
import type { Checked } from './check.ts';
import { BUN_VERSION, type Runtime } from './runtimes.ts';

/** A program of the release. */
export interface Released extends Checked {
  readonly target: Target;
  readonly name: string;
  readonly sha256: string;
  readonly runtime: Runtime;
}

/** The notes of a release: its changes, the programs with their sizes, and their components. */
export function notes(of: {
  readonly commit: Commit;
  readonly changes: string;
  readonly made: readonly Released[];
  readonly publicKey: string | null;
}): string {
  const { commit, changes, made, publicKey } = of;
  return `# vault ${VERSION}

Commit ${commit.commit}, ${commit.date}, with Bun ${BUN_VERSION}. ${publicKey === null ? '' : `Signed by ${publicKey}.`}

| program | MB | checked here |
|---|---|---|
${made.map(({ name, bytes, ran }) => `| ${name} | ${(bytes / 1e6).toFixed(1)} | ${ran} |`).join('\n')}

The program for linux-x64 needs no AVX2: Bun chooses at run time, and its packages for old processors hold the same
executable. The programs for musl need libstdc++.

## Changes

${changes}

## What the programs are made of

The sources of the commit, built again by \`npm run release\`, make these programs byte for byte. Each is the executable
of Bun's package and what is embedded:

| program | package of Bun | SHA-256 of its executable | SHA-256 of what is embedded |
|---|---|---|---|
${made.map(({ name, runtime, embedded }) => `| ${name} | ${runtime.package} | ${runtime.sha256} | ${embedded} |`).join('\n')}
`;
}
