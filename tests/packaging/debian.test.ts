import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from '../../lib/base/version.ts';
import { type Chain, startChain } from '../../scripts/dev-stack/chain.ts';
import { type Deployment, deployContracts } from '../../scripts/dev-stack/deploy.ts';
import { type MailCatcher, startMailCatcher } from '../../scripts/dev-stack/mail.ts';
import { freePort } from '../../scripts/dev-stack/port.ts';
import { makeKeys, readSecretKey, signFile } from '../../scripts/release/sign.ts';
import { buildBinary } from '../support/binary.ts';
import { chainVars } from '../support/chain-vars.ts';
import { temporaryFolder } from '../support/databases.ts';
import { type DebianRoot, linkOrCopy, makeDebianRoot, whyNoDebianRoot } from '../support/debian-root.ts';
import { startListening } from '../support/program.ts';

// What a stranger does on a Debian machine without anything, from the download to the first code.

const NAME = `vault-${VERSION}-linux-${process.arch}`;
const CONFIG = '/etc/vault/vault.env';
const NEEDED = ['curl', 'minisign'].filter((name) => !Bun.which(name));
const reason = NEEDED.length > 0 ? `not installed: ${NEEDED.join(', ')}` : whyNoDebianRoot();
if (reason !== undefined) console.log(`(skip) a Debian without anything: ${reason}`);

describe.skipIf(reason !== undefined)('on a Debian without anything', () => {
  const folder = temporaryFolder();
  const { publicKey, secretKey } = makeKeys();
  let debian: DebianRoot;
  let server: ReturnType<typeof Bun.serve>;
  let chain: Chain;
  let contracts: Deployment;
  let mail: MailCatcher;
  let from: string;

  beforeAll(async () => {
    const binary = await buildBinary();
    const release = join(folder.path, 'release');
    mkdirSync(release);
    mkdirSync(join(folder.path, 'root'));
    copyFileSync(join(import.meta.dir, '../../packaging/install.sh'), join(release, 'install.sh'));
    linkOrCopy(binary.path, join(release, NAME));
    writeSums(release, secretKey);
    debian = makeDebianRoot(join(folder.path, 'root'));
    server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: (request) => new Response(Bun.file(join(release, new URL(request.url).pathname))),
    });
    from = `http://127.0.0.1:${server.port}`;
    [chain, mail] = await Promise.all([startChain(), startMailCatcher()]);
    contracts = await deployContracts(chain.rpc);
  });
  afterAll(async () => {
    await Promise.all([server?.stop(true), chain?.stop(), mail?.stop()]);
    folder.remove();
  });

  const at = (path: string) => join(debian.path, path);
  const asVault = (...words: string[]) => ['setpriv', '--reuid=vault', '--regid=vault', '--init-groups', ...words];

  test('the script installs nothing while there is nothing to verify with', async () => {
    debian.add('curl');
    expect((await debian.run(['curl', '-fsS', '-o', '/tmp/install.sh', `${from}/install.sh`])).code).toBe(0);
    const { code, err } = await install();
    expect([code, err]).toEqual([1, expect.stringContaining('apt-get install minisign')]);
    expect(existsSync(at('usr/local/bin/vault'))).toBe(false);
  });

  test('then it installs a verified program, which runs there', async () => {
    debian.add('minisign');
    const { code, out, err } = await install();
    expect([code, err, out]).toEqual([0, '', expect.stringContaining('checked by minisign')]);
    expect((await debian.run(['vault', '--version'])).out).toBe(`vault ${VERSION}\n`);
    expect(
      await debian.run(['vault', 'version', '--verify', '/usr/local/bin/vault', '--public-key', publicKey]),
    ).toMatchObject({ code: 2, err: expect.stringContaining('SHA256SUMS cannot be read') });
    await debian.run([
      'curl',
      '-fsS',
      '--remote-name-all',
      ...SUMS.map((name) => `${from}/${name}`),
      '--output-dir',
      '/tmp',
    ]);
    const words = ['--verify', '/usr/local/bin/vault', '--sums', '/tmp/SHA256SUMS', '--public-key', publicKey];
    expect(await debian.run(['vault', 'version', ...words])).toMatchObject({
      code: 0,
      out: expect.stringContaining(`is ${NAME} of the release`),
    });
  });

  test('vault service install writes what systemd takes, and the next steps run as they stand', async () => {
    const settings = {
      ...chainVars(chain.url, contracts),
      ...{ SESSION_SBT_ADDRESS: 'none', USDC_ADDRESS: 'none' },
      PORT: String(await freePort()),
      ADMIN_PORT: '0',
      EMAIL_PROVIDER: 'smtp',
      EMAIL_FROM: 'Tea House <no-reply@tea.example>',
      SMTP_URL: mail.url,
    };
    const { code, out, err } = await debian.run(['vault', 'service', 'install'], settings);
    expect([code, err]).toEqual([0, expect.any(String)]);
    const steps = out
      .slice(out.indexOf('Next:'))
      .split('\n')
      .map((line) => line.trim());
    for (const step of steps.filter((line) => /^systemd-(?:sysusers|tmpfiles) /.test(line)))
      expect([step, await debian.run(['sh', '-c', step])]).toEqual([step, expect.objectContaining({ code: 0 })]);
    expect(readFileSync(at('etc/passwd'), 'utf8')).toMatch(/^vault:/m);
    expect(statSync(at('var/lib/vault')).mode & 0o777).toBe(0o700);
    expect((await debian.run(['systemd-analyze', 'verify', 'vault.service'])).code).toBe(0);
  });

  test('the doctor is content, and the first code comes by mail', async () => {
    const [start = '', user] = ['ExecStart', 'User'].map((name) =>
      unitValue(at('etc/systemd/system/vault.service'), name),
    );
    expect(user).toBe('vault');
    const vault = await startListening(debian.command(...asVault(...start.split(' '))), { cwd: '/', env: { PATH } });
    try {
      const doctor = await debian.run(asVault('vault', 'doctor', '--config', CONFIG));
      expect([doctor.code, doctor.out.split('\n').filter((line) => line.startsWith('✗'))]).toEqual([0, []]);
      expect((await debian.run(asVault('vault', 'health', '--config', CONFIG))).out).toBe('✓ ready\n');
      const identifier = 'alice@people.example';
      const post = (path: string, body: object) =>
        fetch(vault.url + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ identifier, channel: 'email', ...body }),
        });
      expect((await post('/api/verify/send', {})).status).toBe(200);
      const { text } = await mail.waitFor(identifier);
      const code = /^\s*(\d{6})\s*$/m.exec(text)?.[1];
      const checked = await post('/api/verify/check', { code });
      expect(await checked.json()).toMatchObject({ ok: true, verified: true });
    } finally {
      expect(await vault.stop()).toBe(0);
    }
  });

  function install() {
    return debian.run(['sh', '/tmp/install.sh', '--from', from, '--key', publicKey, '--version', VERSION]);
  }
});

const SUMS = ['SHA256SUMS', 'SHA256SUMS.minisig'];
const PATH = process.env['PATH'] ?? '';

function unitValue(path: string, name: string): string | undefined {
  return new RegExp(`^${name}=(.*)$`, 'm').exec(readFileSync(path, 'utf8'))?.[1];
}

function writeSums(folder: string, secretKey: string): void {
  const sums = ['install.sh', NAME].map((name) => {
    const sum = createHash('sha256')
      .update(readFileSync(join(folder, name)))
      .digest('hex');
    return `${sum}  ${name}\n`;
  });
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
  const signature = signFile(readSecretKey(secretKey), Buffer.from(sums.join('')), `vault ${VERSION}`);
  writeFileSync(join(folder, 'SHA256SUMS.minisig'), signature);
}
