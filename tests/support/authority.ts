import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A private authority: its key and certificate in PEM, and the certificates that it issues. */
export interface Authority {
  readonly key: string;
  readonly cert: string;
  /** For these host names; `from` and `to` are milliseconds from now. */
  issue(of: { names: readonly string[]; from: number; to: number }): Promise<{ key: string; cert: string }>;
}

/** Makes an authority by openssl; with names it may be a server of its own, too. */
export async function createAuthority(names: readonly string[] = []): Promise<Authority> {
  const folder = mkdtempSync(join(tmpdir(), 'vault-authority-'));
  try {
    const extension = names.length === 0 ? [] : ['-addext', `subjectAltName=${altNames(names)}`];
    await openssl(folder, ['req', '-x509', ...KEY, '-keyout', 'key', '-out', 'cert', '-subj', '/CN=own', ...extension]);
    const [key, cert] = ['key', 'cert'].map((name) => readFileSync(join(folder, name), 'utf8')) as [string, string];
    return { key, cert, issue: (of) => issue({ key, cert }, of) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function issue(
  authority: { readonly key: string; readonly cert: string },
  { names, from, to }: { names: readonly string[]; from: number; to: number },
): Promise<{ key: string; cert: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'vault-certificate-'));
  try {
    for (const [name, text] of Object.entries({ 'ca.key': authority.key, 'ca.cert': authority.cert, ...DATABASE }))
      writeFileSync(join(folder, name), text);
    writeFileSync(join(folder, 'config'), `${CONFIG}subjectAltName=${altNames(names)}\n`);
    await openssl(folder, ['req', ...KEY, '-keyout', 'key', '-out', 'request', '-subj', '/CN=server']);
    const dates = ['-startdate', timeOf(from), '-enddate', timeOf(to)];
    await openssl(folder, ['ca', '-batch', '-notext', '-config', 'config', '-in', 'request', '-out', 'cert', ...dates]);
    return { key: readFileSync(join(folder, 'key'), 'utf8'), cert: readFileSync(join(folder, 'cert'), 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
const DATABASE = { index: '', serial: '01\n' };
const CONFIG = `[ca]
default_ca=own
[own]
database=index
serial=serial
new_certs_dir=.
certificate=ca.cert
private_key=ca.key
default_md=sha256
policy=any
x509_extensions=server
[any]
commonName=supplied
[server]
`;

const altNames = (names: readonly string[]) => names.map((name) => `DNS:${name}`).join(',');
const timeOf = (ms: number) => `${new Date(Date.now() + ms).toISOString().replace(/\D/g, '').slice(0, 14)}Z`;

async function openssl(folder: string, args: readonly string[]): Promise<void> {
  const child = Bun.spawn(['openssl', ...args], { cwd: folder, stdout: 'ignore', stderr: 'pipe' });
  const said = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`openssl ${args[0]}: ${said}`);
}
