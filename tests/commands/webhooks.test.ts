import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { temporaryFolder } from '../support/databases.ts';
import { type Program, startProgram } from '../support/program.ts';
import { type Receiver, startReceiver, WEBHOOK_SECRET } from '../support/receiver.ts';
import { runProgram } from '../support/run.ts';
import { until } from '../support/until.ts';

let folder: ReturnType<typeof temporaryFolder>;
let receiver: Receiver;
const ends: (() => unknown)[] = [];
beforeEach(() => {
  folder = temporaryFolder();
  receiver = startReceiver();
  ends.push(folder.remove, () => receiver.stop());
});
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function start(vars: Readonly<Record<string, string>> = {}): Promise<Program> {
  const webhooks = { WEBHOOK_URL: receiver.url, WEBHOOK_SECRET, WEBHOOK_ALLOW_PRIVATE: 'true' };
  const program = await startProgram({ ...webhooks, ...vars }, { cwd: folder.path });
  ends.push(() => program.stop('SIGKILL'));
  return program;
}

const vault = (...args: string[]) => runProgram(args, { cwd: folder.path });

/** A session is opened, which is an event. */
async function openSession({ url }: Program, identifier: string): Promise<void> {
  const body = JSON.stringify({ identifier, channel: 'handle', did: `did:key:z${identifier.length}` });
  const headers = { 'content-type': 'application/json' };
  await fetch(`${url}/api/sessions`, { method: 'POST', headers, body });
}

describe('vault webhooks', () => {
  test('list shows the dead ones, resend has the running vault send one again', async () => {
    receiver.answer = () => new Response(null, { status: 410 });
    const program = await start();
    await openSession(program, 'alice');
    await until('one is dead', async () => JSON.parse((await vault('webhooks', 'list', '--json')).out).length > 0);
    const listed = await vault('webhooks', 'list', '--json');
    const [dead] = JSON.parse(listed.out);
    expect(dead).toMatchObject({ type: 'session.created', status: 'dead', attempts: 1, last_status: 410 });
    expect((await vault('webhooks', 'list')).out).toMatch(
      /^\d+ {2}\S+Z {2}session\.created {2}1 attempt, last status 410\n$/,
    );
    expect(listed.out).not.toContain('alice');

    receiver.answer = () => new Response(null, { status: 204 });
    expect(await vault('webhooks', 'resend', String(dead.id))).toMatchObject({
      code: 0,
      out: `${dead.id} session.created: queued\n`,
      err: 'vault: WEBHOOK_URL is not set here: the webhook waits until a vault with WEBHOOK_URL runs.\n',
    });
    await until('it comes again', () => receiver.received.length === 2);
    expect(receiver.received.map(({ id }) => id)).toEqual([dead.webhook, dead.webhook]);
    expect(await vault('webhooks', 'resend', String(dead.id))).toMatchObject({
      code: 1,
      err: 'vault: there is no dead webhook with this id\n',
    });
    const delivered = async () => (await vault('webhooks', 'list', '--status', 'delivered')).out;
    await until('it is delivered', async () => (await delivered()).includes('session.created'));
    expect((await vault('webhooks', 'list')).out).toBe('No webhook is dead.\n');
  });

  test('says what it was not given, or cannot read', async () => {
    expect(await vault('webhooks', 'resend')).toMatchObject({
      code: 2,
      err: 'vault: vault webhooks resend needs ID.\n',
    });
    expect(await vault('webhooks', 'resend', 'x')).toMatchObject({ code: 2 });
    expect(await vault('webhooks', 'list', '--status', 'lost')).toMatchObject({
      code: 2,
      err: 'vault: --status is one of queued, delivered, dead.\n',
    });
  });
});

describe('the guards of the program', () => {
  test.each([
    'http://localhost:9',
    'https://127.0.0.1',
    'https://169.254.169.254/latest',
    'https://redis',
    'https://[::1]',
  ])('%s is refused at the start', async (WEBHOOK_URL) => {
    const { code, err } = await runProgram(['serve'], { cwd: folder.path, vars: { WEBHOOK_URL, WEBHOOK_SECRET } });
    expect(code).toBe(2);
    expect(err).toContain('WEBHOOK_URL must');
    expect(err).toContain('WEBHOOK_ALLOW_PRIVATE=true');
  });

  test('a receiver needs a secret', async () => {
    const { code, err } = await runProgram(['serve'], {
      cwd: folder.path,
      vars: { WEBHOOK_URL: 'https://hooks.example.com' },
    });
    expect([code, err.includes('WEBHOOK_SECRET must be set when WEBHOOK_URL is')]).toEqual([2, true]);
  });
});
