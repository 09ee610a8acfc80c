import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Authority, createAuthority } from '../../support/authority.ts';
import { temporaryFolder } from '../../support/databases.ts';
import { runProgram } from '../../support/run.ts';
import { agreeable, scriptedSmtp } from '../../support/smtp.ts';
import { VAULT_SECRET } from '../../support/vault.ts';

interface Report {
  readonly checks: { readonly name: string; readonly state: string; readonly text: string; readonly remedy?: string }[];
}

const isThere = Bun.which('openssl') !== null;
if (!isThere) console.log('There is no openssl: the doctor meets no private authority.');

/** A private authority is made for the test; servers with its certificates speak TLS on loopback. */
describe.skipIf(!isThere)('a certificate that is not taken', () => {
  let folder: ReturnType<typeof temporaryFolder>;
  let authority: Authority;
  const stops: (() => unknown)[] = [];
  beforeAll(async () => {
    folder = temporaryFolder();
    authority = await createAuthority();
    writeFileSync(join(folder.path, 'authority.pem'), authority.cert);
  });
  afterAll(async () => {
    for (const stop of stops) await stop();
    folder.remove();
  });

  function serve(certificate: { readonly key: string; readonly cert: string }): number {
    const fetch = () => Response.json({ jsonrpc: '2.0', id: 1, result: '0x14a34' });
    const server = Bun.serve({ hostname: '127.0.0.1', port: 0, tls: certificate, fetch });
    stops.push(() => server.stop(true));
    return server.port ?? 0;
  }

  const examine = async (vars: Record<string, string>): Promise<Report['checks']> => {
    const { out } = await runProgram(['doctor', '--json'], { cwd: folder.path, vars });
    return (JSON.parse(out) as Report).checks;
  };
  const of = (checks: Report['checks'], name: string) => checks.find((check) => check.name === name);

  test('has the remedy of its own fault: for the node, the bundler, the indexer, the database and mail', async () => {
    const day = 86_400_000;
    const good = { names: ['localhost'], from: -day, to: day };
    const [unknown, expired, early, other] = await Promise.all([
      authority.issue(good),
      authority.issue({ ...good, from: -2 * day, to: -day }),
      authority.issue({ ...good, from: day, to: 2 * day }),
      authority.issue({ ...good, names: ['other.example'] }),
    ]);
    const plain = scriptedSmtp(agreeable);
    stops.push(() => plain.stop());
    const vars = {
      ...{ VAULT_SECRET, OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff') },
      RPC_URL: `https://localhost:${serve(expired)}`,
      BUNDLER_URL: `https://localhost:${serve(early)}`,
      INDEXER_URL: `https://localhost:${serve(other)}`,
      DATABASE_URL: `https://localhost:${serve(unknown)}`,
      ...{ EMAIL_PROVIDER: 'smtp', EMAIL_FROM: 'a@tea.example', SMTP_URL: `smtps://localhost:${plain.port}` },
    };
    const trusting = await examine({ ...vars, NODE_EXTRA_CA_CERTS: join(folder.path, 'authority.pem') });
    expect(of(trusting, 'chain')).toMatchObject({
      text: 'its certificate has expired (CERT_HAS_EXPIRED)',
      remedy: expect.stringContaining('renew'),
    });
    const chain = trusting.filter(({ name }) => name === 'chain');
    expect(chain.at(-1)).toMatchObject({ state: 'skipped', text: expect.stringContaining('tokens') });
    expect(of(trusting, 'bundler')).toMatchObject({
      text: 'its certificate is not valid yet (CERT_NOT_YET_VALID)',
      remedy: expect.stringContaining('clock'),
    });
    expect(of(trusting, 'indexer')).toMatchObject({
      text: 'its certificate is of another host name (ERR_TLS_CERT_ALTNAME_INVALID)',
      remedy: expect.stringContaining('a name that the certificate has'),
    });
    expect(of(trusting, 'mail')).toMatchObject({
      text: 'it speaks no TLS on this port (ERR_SSL_WRONG_VERSION_NUMBER)',
      remedy: expect.stringContaining('smtps:// is for port 465'),
    });
    // It is no libSQL server, but its certificate is taken.
    expect(of(trusting, 'database')?.text).not.toContain('certificate');
    expect(trusting).toContainEqual(expect.objectContaining({ text: 'NODE_EXTRA_CA_CERTS adds an authority' }));

    const others = await examine(vars);
    expect(of(others, 'database')).toMatchObject({
      text: 'its certificate is of an authority that this machine does not know (UNABLE_TO_VERIFY_LEAF_SIGNATURE)',
      remedy: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    });
  });

  test('that signed itself, of a mail server; and a file of authorities that is none', async () => {
    const itself = await createAuthority(['localhost']);
    const port = serve({ key: itself.key, cert: itself.cert });
    const vars = { EMAIL_PROVIDER: 'smtp', EMAIL_FROM: 'a@tea.example', SMTP_URL: `smtps://localhost:${port}` };
    writeFileSync(join(folder.path, 'none.pem'), 'nothing');
    const own = { ...vars, RPC_URL: 'http://127.0.0.1:1', NODE_EXTRA_CA_CERTS: join(folder.path, 'none.pem') };
    const checks = await examine(own);
    expect(of(checks, 'mail')).toMatchObject({
      state: 'fail',
      text: 'its certificate signed itself (DEPTH_ZERO_SELF_SIGNED_CERT)',
      remedy: expect.stringContaining('NODE_EXTRA_CA_CERTS'),
    });
    expect(checks).toContainEqual(expect.objectContaining({ text: expect.stringContaining('no certificate in PEM') }));
  });
});
