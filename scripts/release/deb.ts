import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { VERSION } from '../../lib/base/version.ts';
import { changesOf } from './papers.ts';
import { run } from './run.ts';

const PACKAGING = join(import.meta.dir, '../../packaging');

/** The content of a package. */
export interface Package {
  readonly program: string;
  readonly processor: 'amd64' | 'arm64';
  readonly licences: string;
  /** The commit's time: every file of the package has it. */
  readonly date: string;
  /** The directory that gets it. */
  readonly folder: string;
}

/** Debian's name for the package: `vault` is that of another program. */
export const DEB_NAME = 'vault-identity';

/**
 * Makes a Debian package by `dpkg-deb`, which needs no root: files are root's by its option. The same input makes the
 * same bytes. Resolves with the name of the file.
 */
export async function makeDeb({ program, processor, licences, date, folder }: Package): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), 'vault-deb-'));
  chmodSync(root, 0o755);
  const add = (path: string, content: string | Uint8Array, mode = 0o644) => {
    mkdirSync(join(root, dirname(path)), { recursive: true, mode: 0o755 });
    writeFileSync(join(root, path), content);
    chmodSync(join(root, path), mode);
  };
  const doc = `usr/share/doc/${DEB_NAME}`;
  try {
    mkdirSync(join(root, 'usr/bin'), { recursive: true, mode: 0o755 });
    copyFileSync(program, join(root, 'usr/bin/vault'));
    chmodSync(join(root, 'usr/bin/vault'), 0o755);
    for (const unit of ['vault.service', 'vault@.service'])
      add(`usr/lib/systemd/system/${unit}`, readFileSync(join(PACKAGING, unit)));
    add('etc/vault/vault.env', readFileSync(join(PACKAGING, 'vault.env')));
    add(`${doc}/copyright`, `${COPYRIGHT}\n${licences}`);
    add(`${doc}/changelog.gz`, gzipSync(changelog(date), { level: 9 }));
    add(`${doc}/NEWS.gz`, gzipSync(`${changesOf(VERSION)}\n`, { level: 9 }));
    for (const name of ['postinst', 'prerm', 'postrm'])
      add(`DEBIAN/${name}`, readFileSync(join(PACKAGING, 'deb', name)), 0o755);
    add('DEBIAN/conffiles', '/etc/vault/vault.env\n');
    add('DEBIAN/control', control(processor, Math.ceil(statSync(program).size / 1024)));
    const name = `${DEB_NAME}_${VERSION}_${processor}.deb`;
    // More threads of xz would make other bytes on a machine with more cores.
    const flags = ['--root-owner-group', '-Zxz', '-z1', '--threads-max=1', '--build'];
    await run(['dpkg-deb', ...flags, root, join(folder, name)], {
      cwd: folder,
      env: { SOURCE_DATE_EPOCH: String(Date.parse(date) / 1000) },
    });
    return name;
  } finally {
    rmSync(root, { recursive: true });
  }
}

function control(processor: Package['processor'], kilobytes: number): string {
  return `Package: ${DEB_NAME}
Version: ${VERSION}
Architecture: ${processor}
Maintainer: ${MAINTAINER}
Installed-Size: ${kilobytes}
Depends: adduser, libc6 (>= 2.17)
Conflicts: vault
Section: net
Priority: optional
Description: registration and identity service
 A person proves an email address, a phone number or a handle with a one-time
 code. The vault signs an attestation and registers a decentralized identifier
 (DID) on-chain, controlled by the account of the person's passkey.
 .
 This is not HashiCorp's vault, whose package has that name.
`;
}

function changelog(date: string): string {
  const stamp = new Date(date).toUTCString().replace('GMT', '+0000');
  return `${DEB_NAME} (${VERSION}) stable; urgency=medium\n\n  * The release ${VERSION}: see NEWS.gz.\n\n -- ${MAINTAINER}  ${stamp}\n`;
}

/** People who build a package of their own name themselves. */
const MAINTAINER = process.env['DEBFULLNAME']
  ? `${process.env['DEBFULLNAME']} <${process.env['DEBEMAIL'] ?? 'root@localhost'}>`
  : 'vault maintainers <root@localhost>';

const COPYRIGHT = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: vault

Files: *
Copyright: the authors of the vault, and of what is embedded, as named below
License: MIT and others
 The program holds Bun and packages under licences of their own. All texts follow.
`;
