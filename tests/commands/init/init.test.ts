import { describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readVars } from '../../../commands/setup/vars.ts';
import { type MailCatcher, startMailCatcher } from '../../../scripts/dev-stack/mail.ts';
import { eachTest } from '../../support/each-test.ts';
import { runProgram, VAULT } from '../../support/run.ts';
import { type AtTerminal, CTRL_C, startAtTerminal } from '../../support/terminal.ts';

const NOWHERE = 'http://127.0.0.1:1';

const { folder, ends } = eachTest();

function init(words: readonly string[] = [], vars: Record<string, string> = {}): AtTerminal {
  const terminal = startAtTerminal([...VAULT, 'init', ...words], { cwd: folder.path, vars });
  ends.push(terminal.stop);
  return terminal;
}
const at = (name: string) => join(folder.path, name);
/** What the vault reads in the file. */
const written = (name = 'vault.env') => readVars({}, {}, at(name)).vars;

/** A node that answers what chain it is of. */
function nodeOf(chainId: number): string {
  const node = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      const { id } = await request.json();
      return Response.json({ jsonrpc: '2.0', id, result: `0x${chainId.toString(16)}` });
    },
  });
  ends.push(() => node.stop(true));
  return `http://127.0.0.1:${node.port}`;
}

async function mailServer(auth: { user: string; pass: string }): Promise<MailCatcher> {
  const server = await startMailCatcher({ auth });
  ends.push(server.stop);
  return server;
}

describe('vault init at a terminal', () => {
  test('Enter all the way makes a vault of this machine, checks it, and says what comes next', async () => {
    const terminal = init([], { RPC_URL: NOWHERE });
    await terminal.answer('BASE_URL [http://localhost:8787]: ', '');
    expect(await terminal.shows('EMAIL_PROVIDER: ')).not.toContain('Passkeys');
    await terminal.answer('[log]: ', '');
    await terminal.answer('SMS_PROVIDER: ', '');
    await terminal.answer('REGISTRAR_PRIVATE_KEY: none, new (one is made), or own (you paste it) [none]: ', '');
    await terminal.answer('APPS, such as shop,forum [none]: ', '');
    await terminal.answer('BRAND_NAME [localhost:8787]: ', '');
    expect(await terminal.shows('Next:\n  vault serve --config vault.env')).toMatch(
      /Wrote vault\.env, for its owner alone\.\n.*\n\n✓ settings.*✗ chain/s,
    );
    expect(await terminal.exited).toBe(0);
    expect(
      Math.max(
        ...terminal
          .output()
          .split('\n')
          .map(({ length }) => length),
      ),
    ).toBeLessThanOrEqual(100);
    expect(written()).toEqual({ DATA_DIR: at('vault-data'), RPC_URL: NOWHERE });
    expect(statSync(at('vault.env')).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder.path)).toEqual(['vault.env']);
  });

  test('a public vault: each answer is checked, a test mail is sent, and no secret is shown', async () => {
    const password = 'p%ss wörd:/@';
    const mail = await mailServer({ user: 'me@tea.example', pass: password });
    const node = nodeOf(84532);
    const terminal = init();
    await terminal.answer('BASE_URL [', 'https://vault.example/path');
    await terminal.answer(/! BASE_URL must be an origin[^[]*BASE_URL \[/, 'vault.example');
    await terminal.answer('RP_IDS [vault.example]: ', 'other.example');
    await terminal.answer(/names neither the host of BASE_URL nor a domain above it[^[]*same \[no\]: /, '');
    await terminal.answer('RP_IDS [vault.example]: ', '');
    await terminal.answer('TRUSTED_PROXIES [127.0.0.1/32,::1/128]: ', '0.0.0.0/0');
    await terminal.answer(/! TRUSTED_PROXIES must be[^[]*TRUSTED_PROXIES \[/, '');
    await terminal.answer('ADMIN_PORT [8790]: ', '');
    await terminal.answer('EMAIL_PROVIDER: smtp, resend, hook or none: ', 'log');
    await terminal.answer(/! EMAIL_PROVIDER must not be log[^:]*: choose [^:]*: smtp, resend, hook or none: /, 'smtp');
    await terminal.answer('Mail server, such as smtp://user@host:587: ', `me@tea.example@127.0.0.1:${mail.port}`);
    await terminal.answer('Password of me@tea.example (it is not shown) [none]: ', 'wrong');
    await terminal.answer('EMAIL_FROM [no-reply@vault.example]: ', 'Tea House');
    await terminal.answer('Send a test mail to (Enter sends none) [none]: ', 'you@example.com');
    await terminal.answer(
      /✗ the test message to y\*\*\*@example.com was not sent: [\s\S]*about mail again \[yes\]: /,
      '',
    );
    await terminal.answer('EMAIL_PROVIDER: smtp, resend, hook or none [smtp]: ', '');
    await terminal.answer('[(secret)]: ', `smtp://me%40tea.example@127.0.0.1:${mail.port}`);
    await terminal.answer('(it is not shown) [none]: ', password);
    await terminal.answer('EMAIL_FROM [Tea House <no-reply@vault.example>]: ', '');
    await terminal.answer('Send a test mail to (Enter sends none) [none]: ', 'you@example.com');
    const { to, subject, user } = await mail.waitFor('you@example.com');
    expect([to, subject, user]).toEqual([['you@example.com'], 'Test: this vault can send mail', 'me@tea.example']);
    await terminal.answer(/✓ smtp took the test message[^[]*Did it arrive \[yes\]: /, '');
    await terminal.answer('SMS_PROVIDER: twilio, hook or none [none]: ', '');
    await terminal.answer('RPC_URL [https://sepolia.base.org]: ', NOWHERE);
    await terminal.answer(/! The node does not answer: unreachable \(ECONNREFUSED\)[^[]*same \[no\]: /, '');
    await terminal.answer('RPC_URL [https://sepolia.base.org]: ', node);
    await terminal.answer(/✓ The node answers\. It is of chain 84532, Base Sepolia\.[\s\S]*\[none\]: /, 'new');
    const made = await terminal.shows(/Its account is 0x[0-9a-fA-F]{40}/);
    await terminal.answer('APPS, such as shop,forum [none]: ', 'Shop');
    await terminal.answer(/! APPS must[^[]*\[none\]: /, 'shop');
    const back = 'Where shop gets people back, such as https://shop.example/callback [none]: ';
    await terminal.answer(back, 'http://tea.example/back');
    await terminal.answer(/! It must be a URI as a browser[^[]*\[none\]: /, 'https://tea.example/back');
    await terminal.answer('BRAND_NAME [vault.example]: ', 'Tea <House>');
    await terminal.answer(/! BRAND_NAME must be[^[]*BRAND_NAME \[/, 'Tea House');
    await terminal.shows('Wrote vault.env');
    const vars = written();
    expect(vars).toEqual({
      BASE_URL: 'https://vault.example',
      RP_IDS: 'vault.example',
      TRUSTED_PROXIES: '127.0.0.1/32,::1/128',
      ADMIN_PORT: '8790',
      DATA_DIR: at('vault-data'),
      EMAIL_PROVIDER: 'smtp',
      EMAIL_FROM: 'Tea House <no-reply@vault.example>',
      SMTP_URL: `smtp://me%40tea.example:${encodeURIComponent(password)}@127.0.0.1:${mail.port}`,
      SMS_PROVIDER: 'none',
      RPC_URL: node,
      REGISTRAR_PRIVATE_KEY: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      APPS: 'shop',
      CLIENTS: at('clients.json'),
      BRAND_NAME: 'Tea House',
    });
    const clients = { shop: { redirect_uris: ['https://tea.example/back'] } };
    expect(JSON.parse(readFileSync(at('clients.json'), 'utf8'))).toEqual(clients);
    expect(statSync(at('clients.json')).mode & 0o777).toBe(0o600);
    expect(await terminal.shows('Next:')).toMatch(/✓ apps/);
    expect(made).not.toContain(vars['REGISTRAR_PRIVATE_KEY'] ?? '-');
    for (const secret of [password, encodeURIComponent(password), 'wrong', vars['REGISTRAR_PRIVATE_KEY'] ?? '-'])
      expect(terminal.output()).not.toContain(secret);
  });

  test('Ctrl+C writes nothing, wherever it comes', async () => {
    const first = init();
    await first.shows('BASE_URL [');
    first.type(CTRL_C);
    expect([await first.exited, first.output()]).toEqual([130, expect.stringContaining('Nothing was written.')]);
    const hidden = init(['--email-provider', 'resend']);
    await hidden.answer('BASE_URL [', '');
    await hidden.shows('RESEND_API_KEY (it is not shown): ');
    hidden.type(`half-a-key${CTRL_C}`);
    expect(await hidden.exited).toBe(130);
    expect(hidden.output()).not.toContain('half-a-key');
    expect(readdirSync(folder.path)).toEqual([]);
  });

  test('a file that is there is changed only if that is wanted, is what is offered, and is kept', async () => {
    const before = `BRAND_NAME=Tea House\nAPPS=shop\nLOG_LEVEL=warn\nRPC_URL=${NOWHERE}\nREGISTRAR_PRIVATE_KEY=${'1'.repeat(64)}\n`;
    writeFileSync(at('own.env'), before, { mode: 0o600 });
    const kept = init(['--config', 'own.env']);
    await kept.answer('Change it [no]: ', '');
    expect([await kept.exited, readdirSync(folder.path), readFileSync(at('own.env'), 'utf8')]).toEqual([
      0,
      ['own.env'],
      before,
    ]);
    const terminal = init(['--config', 'own.env']);
    await terminal.answer('Change it [no]: ', 'yes');
    await terminal.answer('BASE_URL [', '');
    await terminal.answer('EMAIL_PROVIDER', '');
    await terminal.answer('SMS_PROVIDER', '');
    await terminal.answer(`RPC_URL [${NOWHERE}]: `, '');
    await terminal.answer('same [no]: ', 'y');
    await terminal.answer('[keep]: ', '');
    await terminal.answer('APPS', '');
    await terminal.answer('Where shop gets people back', '');
    await terminal.answer('BRAND_NAME [Tea House]: ', '-');
    await terminal.shows('Wrote own.env, for its owner alone; the one before is own.env.before-');
    expect(written('own.env')).toEqual({
      DATA_DIR: at('vault-data'),
      APPS: 'shop',
      LOG_LEVEL: 'warn',
      RPC_URL: NOWHERE,
      REGISTRAR_PRIVATE_KEY: '1'.repeat(64),
    });
    const aside = readdirSync(folder.path).find((name) => name.startsWith('own.env.before-')) ?? '';
    expect(readFileSync(at(aside), 'utf8')).toBe(before);
  });

  test('a node of another chain sets CHAIN_ID, and no key is asked for where no contracts are known', async () => {
    const terminal = init([], { RPC_URL: nodeOf(8453), EMAIL_PROVIDER: 'none', SMS_PROVIDER: 'none' });
    await terminal.answer('BASE_URL [', '');
    await terminal.shows('It is of chain 8453, Base, so CHAIN_ID is too.');
    await terminal.shows('Not asked: no contracts are known on Base.');
    await terminal.answer('APPS', '');
    await terminal.answer('BRAND_NAME', '');
    await terminal.shows('Wrote vault.env');
    expect(written()).toMatchObject({ CHAIN_ID: '8453', EMAIL_PROVIDER: 'none' });
  });
});

describe('vault init without a terminal', () => {
  const run = (words: readonly string[], vars: Record<string, string> = {}) =>
    runProgram(['init', ...words], { cwd: folder.path, vars });

  /** As a script pipes answers into it. */
  async function pipe(lines: readonly string[], words: readonly string[] = []) {
    const child = Bun.spawn([...VAULT, 'init', ...words], {
      ...{ cwd: folder.path, env: { RPC_URL: NOWHERE }, stdout: 'pipe', stderr: 'pipe' },
      stdin: new TextEncoder().encode(lines.map((line) => `${line}\n`).join('')),
    });
    const [out, err, code] = await Promise.all([
      Bun.readableStreamToText(child.stdout as ReadableStream),
      Bun.readableStreamToText(child.stderr as ReadableStream),
      child.exited,
    ]);
    return { code, out, err };
  }

  test('--yes takes what is given, as flags, by --set or in the environment, and asks nothing', async () => {
    writeFileSync(at('smtp-url'), 'smtp://u:confidential@127.0.0.1:1', { mode: 0o600 });
    const sets = ['--set', 'EMAIL_PROVIDER=smtp', '--set', `SMTP_URL_FILE=${at('smtp-url')}`, '--set', 'APPS=a,b'];
    const words = ['--yes', '--email-from', 'a@tea.example', ...sets];
    const { code, out, err } = await run(words, { RPC_URL: NOWHERE, RESERVED_DOMAINS: 'tea.example' });
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('Wrote vault.env');
    expect(out).not.toContain('confidential');
    expect(readFileSync(at('vault.env'), 'utf8')).toContain(`\nSMTP_URL_FILE=${at('smtp-url')}\n`);
    expect(written()).toEqual({
      DATA_DIR: at('vault-data'),
      EMAIL_PROVIDER: 'smtp',
      EMAIL_FROM: 'a@tea.example',
      SMTP_URL: 'smtp://u:confidential@127.0.0.1:1',
      RPC_URL: NOWHERE,
      APPS: 'a,b',
      RESERVED_DOMAINS: 'tea.example',
    });
  });

  test('--send-to sends the test message with the checks at the end', async () => {
    const mail = await mailServer({ user: 'me', pass: 'secret' });
    const vars = { RPC_URL: NOWHERE, EMAIL_PROVIDER: 'smtp', EMAIL_FROM: 'a@tea.example' };
    const url = `smtp://me:secret@127.0.0.1:${mail.port}`;
    const { code, out } = await run(['--yes', '--send-to', 'you@example.com'], { ...vars, SMTP_URL: url });
    expect([code, out]).toEqual([0, expect.stringMatching(/✓ mail +smtp took the test message/)]);
    expect((await mail.waitFor('you@example.com')).user).toBe('me');
  });

  test('takes the lines of standard input, an empty one as the default, and refuses too few of them', async () => {
    const lines = ['', 'none', 'none', '', 'shop', 'Tea House'];
    const short = await pipe(lines.slice(0, 4));
    expect([short.code, short.err]).toEqual([2, expect.stringContaining('the answers on standard input end here')]);
    expect(readdirSync(folder.path)).toEqual([]);
    const { code, out } = await pipe(lines);
    expect([code, out]).toEqual([0, expect.stringContaining('Wrote vault.env')]);
    expect(written()).toMatchObject({ EMAIL_PROVIDER: 'none', APPS: 'shop', BRAND_NAME: 'Tea House' });
  });

  test.each<[string, string[], string]>([
    [
      'a file that is there',
      ['--config', 'there.env', '--yes'],
      'there.env is there: --force replaces it, and keeps it under',
    ],
    ['no answers at all', [], 'the answers on standard input end here'],
    ['a secret on the command line', ['--yes', '--set', 'SMTP_URL=smtp://x'], '--set SMTP_URL would show it to other'],
    ['a name that no setting has', ['--yes', '--set', 'BASEURL=x'], '--set takes NAME=VALUE'],
    ['a file of a setting that is not a secret', ['--yes', '--set', 'PORT_FILE=x'], '--set takes NAME=VALUE'],
    ['a value that cannot be', ['--yes', '--port', 'many'], 'PORT must be a whole number from 0 to 65535 (from: flag'],
    ['a public vault that mails nothing', ['--yes', '--base-url', 'https://a.example'], 'An answer is needed: EMAIL_P'],
    ['a provider without what it needs', ['--yes', '--email-provider', 'resend'], 'needed: RESEND_API_KEY'],
  ])('refuses %s, and writes nothing', async (_, words, message) => {
    writeFileSync(at('there.env'), 'PORT=1\n', { mode: 0o600 });
    const { code, err } = await run(words, { RPC_URL: NOWHERE });
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
    expect(readdirSync(folder.path)).toEqual(['there.env']);
    expect(readFileSync(at('there.env'), 'utf8')).toBe('PORT=1\n');
  });

  test('--force replaces a file, and keeps it', async () => {
    writeFileSync(at('vault.env'), 'PORT=9000\nBRAND_NAME=Tea\n', { mode: 0o600 });
    const { code, out } = await run(['--yes', '--force', '--port', '9001'], { RPC_URL: NOWHERE });
    expect([code, out]).toEqual([0, expect.stringContaining('; the one before is vault.env.before-')]);
    expect(written()).toMatchObject({ PORT: '9001', BRAND_NAME: 'Tea' });
    expect(existsSync(at('vault-data'))).toBe(false);
  });
});
