// The papers beside the programs: the bill of materials, the licences and the notes of the release.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '../../lib/base/version.ts';
import type { Commit } from '../build/read-commit.ts';
import type { Component } from './components.ts';
import { LINKED } from './linked.ts';
import { BUN_VERSION } from './runtimes.ts';

const ROOT = join(import.meta.dir, '../..');

/** A CycloneDX 1.6 bill of materials of the programs. The same sources make the same bytes. */
export function billOfMaterials(components: readonly Component[], { commit, date }: Commit): string {
  const bun = `pkg:npm/bun@${BUN_VERSION}`;
  const vault = `vault@${VERSION}`;
  const packages = components.map(({ name, version, license, part }) => ({
    type: 'library',
    'bom-ref': `pkg:npm/${name.replace('@', '%40')}@${version}`,
    name,
    version,
    ...(part === undefined ? {} : { description: `In the program: ${part}` }),
    licenses: [{ license: { id: license } }],
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
  }));
  const linked = LINKED.map(([name, expression, source]) => ({
    type: 'library',
    'bom-ref': `${bun}#${name}`,
    name,
    description: `Linked into Bun; its version is that of Bun ${BUN_VERSION}`,
    licenses: [{ expression }],
    externalReferences: [{ type: 'vcs', url: `https://${source}` }],
  }));
  const runtime = { type: 'framework', 'bom-ref': bun, name: 'bun', version: BUN_VERSION, purl: bun };
  const all = [{ ...runtime, licenses: [{ license: { id: 'MIT' } }] }, ...packages, ...linked];
  const bill = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${uuidOf(`${VERSION} ${commit}`)}`,
    version: 1,
    metadata: {
      ...(date === null ? {} : { timestamp: date }),
      component: {
        type: 'application',
        'bom-ref': vault,
        name: 'vault',
        version: VERSION,
        licenses: [{ license: { id: 'MIT' } }],
        properties: [{ name: 'vault:commit', value: commit ?? 'unknown' }],
      },
    },
    components: all,
    dependencies: [
      { ref: vault, dependsOn: [bun, ...packages.map((one) => one['bom-ref'])] },
      { ref: bun, dependsOn: linked.map((one) => one['bom-ref']) },
    ],
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}

/** A UUID of version 8 (RFC 9562), made of a text: another release has another one. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}

const RULE = '='.repeat(80);

/** The licences of all that is in the programs. */
export function licences(components: readonly Component[]): string {
  const own = readFileSync(join(ROOT, 'LICENSE'), 'utf8').trim();
  const parts = components.map(({ name, version, license, author, text, part }) => {
    const title = `${name} ${version}: ${license}${part === undefined ? '' : ` (${part})`}`;
    return [title, text ?? textFor(license, author, own)] as const;
  });
  const linked = LINKED.map(([name, license, source]) => `  ${name}: ${license}, ${source}`).join('\n');
  return [
    [`vault ${VERSION}: MIT`, own] as const,
    [`Bun ${BUN_VERSION}: MIT`, `${bunText(own)}\n\nBun links these libraries statically:\n\n${linked}\n\n${RELINK}`],
    ...parts,
  ]
    .map(([title, text]) => `${RULE}\n${title}\n${RULE}\n\n${text}\n`)
    .join('\n');
}

const RELINK = `JavaScriptCore and TinyCC are under the LGPL: you may change them and link them again. Their sources, and how Bun
is linked with changed ones, are in Bun's repository, github.com/oven-sh/bun (LICENSE.md). Put the new executable in
place of Bun's: npm run build builds the vault with the Bun that runs it, from the sources of this release.`;

function bunText(own: string): string {
  return own.replace(/^Copyright.*$/m, 'Copyright (c) Oven and contributors');
}

/** The usual text of a licence, for a package that names one and holds no text. */
function textFor(license: string, author: string, own: string): string {
  const says = `The package says that it is ${license} and holds no text. The usual one:`;
  const copyright = `Copyright (c) ${author}`;
  if (license === 'MIT') return `${says}\n\n${own.replace(/^Copyright.*$/m, copyright)}`;
  if (license === 'ISC') return `${says}\n\n${copyright}\n\n${ISC}`;
  throw new Error(`a package under ${license} holds no text of it, and there is none here`);
}

const ISC = `Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby
granted, provided that the above copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL
IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT,
INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN
ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF
THIS SOFTWARE.`;

/** The changelog's text on this version. Throws if there is none. */
export function changesOf(version: string, changelog = readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8')): string {
  const sections = changelog.split(/^## /m);
  const section = sections.find((one) => one.startsWith(`${version} `) || one.startsWith(`${version}\n`));
  if (section === undefined) throw new Error(`CHANGELOG.md has no section ${version}`);
  return section.slice(section.indexOf('\n') + 1).trim();
}
