import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '../../lib/base/version.ts';
import { DEB_NAME, makeDeb } from '../../scripts/release/deb.ts';
import { temporaryFolder } from '../support/databases.ts';
import { type DebianRoot, makeDebianRoot, whyNoDebianRoot } from '../support/debian-root.ts';

const DATE = '2026-11-23T01:00:00.000Z';

const folder = temporaryFolder();
afterAll(() => folder.remove());

/** The package around a stand-in: what dpkg does does not depend on the program. */
async function make(where: string): Promise<string> {
  const out = join(folder.path, where);
  mkdirSync(out);
  const program = join(out, 'program');
  writeFileSync(program, '#!/bin/sh\necho "vault 0.2.0"\n');
  return join(out, await makeDeb({ program, processor: 'amd64', licences: 'the texts', date: DATE, folder: out }));
}

const dpkg = (...words: string[]) => Bun.spawnSync(['dpkg-deb', ...words]).stdout.toString();

describe.skipIf(!Bun.which('dpkg-deb'))('the Debian package', () => {
  test('is the same bytes whenever it is made, of files of root', async () => {
    const first = await make('first');
    const second = await make('second');
    expect(Buffer.compare(readFileSync(first), readFileSync(second))).toBe(0);
    const files = dpkg('--contents', first).trim().split('\n');
    expect(files.filter((line) => !line.includes(' root/root '))).toEqual([]);
    expect(files.filter((line) => !line.includes('2026-11-23 01:00'))).toEqual([]);
    expect(files.map((line) => line.split(' ').at(-1))).toEqual(
      expect.arrayContaining([
        './usr/bin/vault',
        './usr/lib/systemd/system/vault.service',
        './etc/vault/vault.env',
        `./usr/share/doc/${DEB_NAME}/copyright`,
        `./usr/share/doc/${DEB_NAME}/changelog.gz`,
      ]),
    );
    const field = (name: string) => dpkg('--field', first, name).trim();
    expect([field('Package'), field('Version'), field('Conflicts')]).toEqual([DEB_NAME, VERSION, 'vault']);
  });
});

const reason = whyNoDebianRoot();
if (reason !== undefined) console.log(`(skip) dpkg in a Debian of its own: ${reason}`);

describe.skipIf(reason !== undefined || process.arch !== 'x64')('dpkg, in a Debian of its own', () => {
  let debian: DebianRoot;
  let name: string;
  beforeAll(async () => {
    const deb = await make('installed');
    mkdirSync(join(folder.path, 'root'));
    debian = makeDebianRoot(join(folder.path, 'root'));
    name = '/tmp/vault.deb';
    writeFileSync(join(debian.path, name), readFileSync(deb));
  });
  const at = (path: string) => join(debian.path, path);
  const dpkgIn = (...words: string[]) => debian.run(['dpkg', ...words], { DEBIAN_FRONTEND: 'noninteractive' });
  const ownerOf = async (path: string) => (await debian.run(['stat', '-c', '%U:%G %a', path])).out.trim();

  test('installs the program, a user and a directory for that user alone, and starts nothing', async () => {
    const { code, out, err } = await dpkgIn('--install', name);
    expect([code, err]).toEqual([0, expect.any(String)]);
    expect(out).toContain('systemctl enable --now vault');
    expect((await debian.run(['vault'])).out).toBe('vault 0.2.0\n');
    expect(await ownerOf('/var/lib/vault')).toBe('vault:vault 700');
    expect(await ownerOf('/etc/vault')).toBe('root:vault 750');
    expect(await ownerOf('/etc/vault/vault.env')).toBe('vault:vault 600');
    expect((await debian.run(['systemd-analyze', 'verify', 'vault.service'])).code).toBe(0);
    expect(existsSync(at('etc/systemd/system/multi-user.target.wants/vault.service'))).toBe(false);
  });

  test('keeps settings that were changed over a second installation', async () => {
    writeFileSync(at('etc/vault/vault.env'), 'PORT=9000\n');
    expect((await dpkgIn('--install', name)).code).toBe(0);
    expect(readFileSync(at('etc/vault/vault.env'), 'utf8')).toBe('PORT=9000\n');
    expect(await ownerOf('/etc/vault/vault.env')).toBe('vault:vault 600');
  });

  test('a purge keeps the data, and one that is asked to deletes it', async () => {
    writeFileSync(at('var/lib/vault/vault.db'), 'registrations');
    expect((await dpkgIn('--remove', DEB_NAME)).code).toBe(0);
    expect(existsSync(at('usr/bin/vault'))).toBe(false);
    expect(existsSync(at('etc/vault/vault.env'))).toBe(true);
    const { code, out } = await dpkgIn('--purge', DEB_NAME);
    expect([code, out]).toEqual([0, expect.stringContaining('/var/lib/vault stays')]);
    expect(existsSync(at('etc/vault'))).toBe(false);
    expect(statSync(at('var/lib/vault/vault.db')).size).toBe(13);
    expect((await dpkgIn('--install', name)).code).toBe(0);
    const asked = await debian.run(['dpkg', '--purge', DEB_NAME], { VAULT_PURGE_DATA: 'yes' });
    expect([asked.code, existsSync(at('var/lib/vault'))]).toEqual([0, false]);
  });
});
