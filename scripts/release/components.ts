import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLIENT_PARTS } from '../../assets/client-parts.ts';
import { toolPath } from '../testing/tools.ts';

const ROOT = join(import.meta.dir, '../..');

/** A package with a part in the program. */
export interface Component {
  readonly name: string;
  readonly version: string;
  /** As its `package.json` says, in SPDX's words. */
  readonly license: string;
  readonly author: string;
  /** The text of its licence; undefined if the package has none. */
  readonly text: string | undefined;
  /** The part of it in the program, if that is not its JavaScript. */
  readonly part?: string;
}

/** The entry points of the program's bundle, with the thread that writes and the pages. */
const ENTRIES = ['server.ts', 'commands/storage/writer.ts', ...Object.keys(CLIENT_PARTS).map((p) => `client/${p}`)];

/** Compiled into other files: the contracts' creation code and the enclave. */
const COMPILED = [
  ['@openzeppelin/contracts', 'Solidity in the creation code of the contracts'],
  ['assemblyscript', 'the runtime of enclave.wasm'],
] as const;

/** Every package that something in the program comes from, by name. Asks the bundler, so nothing is forgotten. */
export async function findComponents(): Promise<readonly Component[]> {
  const names = new Set<string>();
  const pages = readdirSync(join(ROOT, 'assets'), { recursive: true, encoding: 'utf8' })
    .filter((name) => /^(?!enclave\/)\w+\/[\w-]+\.ts$/.test(name))
    .map((name) => `assets/${name}`);
  for (const [target, entries] of [
    ['bun', ENTRIES],
    ['browser', pages],
  ] as const) {
    const { metafile } = await Bun.build({
      entrypoints: entries.map((path) => join(ROOT, path)),
      target,
      splitting: true,
      metafile: true,
    });
    for (const { inputs } of Object.values(metafile?.outputs ?? {}))
      for (const [path, { bytesInOutput }] of Object.entries(inputs)) {
        const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
        if (name !== undefined && bytesInOutput > 0) names.add(name);
      }
  }
  const bundled = [...names].map((name) => describePackage(name));
  const compiled = COMPILED.map(([name, part]) => ({ ...describePackage(name), part }));
  return [...bundled, ...compiled].sort((a, b) => a.name.localeCompare(b.name, 'en'));
}

function describePackage(name: string): Component {
  const folder = [join(ROOT, 'node_modules', name), toolPath(name)].find((one) => existsSync(one)) ?? name;
  const { version, license, author } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  if (typeof license !== 'string') throw new Error(`${name} names no licence`);
  const file = readdirSync(folder).find((one) => /^(?:licen[cs]e|copying)(?:\.(?:md|txt))?$/i.test(one));
  const text = file === undefined ? undefined : readFileSync(join(folder, file), 'utf8').trim();
  return { name, version, license, author: nameOfAuthor(author), text };
}

function nameOfAuthor(author: unknown): string {
  if (typeof author === 'string') return author.replace(/\s*[<(].*$/, '');
  return typeof author === 'object' && author !== null && 'name' in author ? String(author.name) : 'its authors';
}
