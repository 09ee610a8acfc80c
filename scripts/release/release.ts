// npm run release: every file of a release, in dist/release. docs/releases.md has the checklist.
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VERSION } from '../../lib/base/version.ts';
import { readCommit } from '../build/read-commit.ts';
import { nameOf, TARGETS, type Target } from '../build/targets.ts';
import { standardInput } from '../contracts.ts';
import { installTools } from '../testing/tools.ts';
import { checkProgram } from './check.ts';
import { findComponents } from './components.ts';
import { makeDeb } from './deb.ts';
import { notes, type Released } from './notes.ts';
import { type Asked, readAsked, USAGE } from './options.ts';
import { billOfMaterials, changesOf, licences } from './papers.ts';
import { makeProgram } from './program.ts';
import { BUN_VERSION, fetchRuntime } from './runtimes.ts';
import { signFile } from './sign.ts';

const ROOT = join(import.meta.dir, '../..');

const CONTRACTS = `vault-${VERSION}-contracts.json`;

const DEBS = { 'bun-linux-x64': 'amd64', 'bun-linux-arm64': 'arm64' } as const;

/** Makes the release. Throws where something is not as it should be, and leaves no list of sums then. */
async function release(asked: Asked): Promise<void> {
  installTools();
  const commit = readCommit();
  if (!asked.withChanges && !/^[0-9a-f]{40}$/.test(commit.commit ?? ''))
    throw new Error('files differ from the commit: a release is made of a commit. To try it: --with-changes');
  const { date } = commit;
  if (date === null) throw new Error('there is no commit: set SOURCE_DATE_EPOCH to the time of the release');
  const changes = changesOf(VERSION);
  const out = join(ROOT, 'dist/release');
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  const made: Released[] = [];
  for (const target of asked.targets) made.push(await releaseProgram(target, asked, out));
  const components = await findComponents();
  const text = licences(components);
  writeFileSync(join(out, 'LICENSES.txt'), text);
  writeFileSync(join(out, `vault-${VERSION}.cdx.json`), billOfMaterials(components, commit));
  copyFileSync(join(ROOT, 'packaging/install.sh'), join(out, 'install.sh'));
  writeFileSync(join(out, CONTRACTS), await standardInput());
  const debs: string[] = [];
  for (const { target, name } of made) {
    if (!(target in DEBS) || !Bun.which('dpkg-deb')) continue;
    const processor = DEBS[target as keyof typeof DEBS];
    debs.push(await makeDeb({ program: join(out, name), processor, licences: text, date, folder: out }));
  }
  writeFileSync(join(out, 'NOTES.md'), notes({ commit, changes, made, publicKey: asked.publicKey }));
  const papers = ['LICENSES.txt', 'NOTES.md', 'install.sh', `vault-${VERSION}.cdx.json`, CONTRACTS];
  const names = [...made.map(({ name }) => name), ...debs, ...papers];
  const sums = names.sort().map((name) => `${sha256Of(join(out, name))}  ${name}\n`);
  writeFileSync(join(out, 'SHA256SUMS'), sums.join(''));
  const comment = `vault ${VERSION} of commit ${commit.commit}`;
  if (asked.secretKey)
    writeFileSync(join(out, 'SHA256SUMS.minisig'), signFile(asked.secretKey, Buffer.from(sums.join('')), comment));
  console.log(`\n${sums.join('')}\nBun ${BUN_VERSION}. ${names.length} files are in dist/release.`);
  if (!asked.secretKey)
    console.log(`Not signed. To sign: minisign -S -m dist/release/SHA256SUMS -t '${comment}' -s YOUR-SECRET-KEY`);
}

async function releaseProgram(target: Target, { publicKey }: Asked, out: string): Promise<Released> {
  const runtimes = join(ROOT, 'dist/runtimes');
  mkdirSync(runtimes, { recursive: true });
  const runtime = await fetchRuntime(target, runtimes);
  const name = `vault-${VERSION}-${nameOf(target)}${target.startsWith('bun-windows') ? '.exe' : ''}`;
  const path = join(out, name);
  copyFileSync(await makeProgram(target, runtime, publicKey), path);
  chmodSync(path, 0o755);
  const folder = mkdtempSync(join(tmpdir(), 'vault-release-'));
  try {
    const checked = await checkProgram(path, { target, runtime, folder });
    console.log(`${name}  ${(checked.bytes / 1e6).toFixed(2)} MB  ${checked.ran}`);
    return { ...checked, target, name, runtime, sha256: sha256Of(path) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function sha256Of(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

async function main(words: readonly string[]): Promise<number> {
  if (words.includes('--help')) {
    console.log(USAGE);
    return 0;
  }
  let asked: Asked;
  try {
    asked = readAsked(words, TARGETS);
  } catch (error) {
    console.error(`npm run release: ${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  try {
    await release(asked);
    return 0;
  } catch (error) {
    console.error(`npm run release: ${(error as Error).message}`);
    return 1;
  }
}

if (import.meta.main) process.exit(await main(process.argv.slice(2)));
