import { afterEach, expect, test } from 'bun:test';
import { createServer, type Socket } from 'node:net';
import { temporaryFolder } from '../support/databases.ts';
import { type Program, startProgram } from '../support/program.ts';
import { type Receiver, startReceiver, WEBHOOK_SECRET } from '../support/receiver.ts';
import { until } from '../support/until.ts';
import { VAULT_SECRET } from '../support/vault.ts';

const REGISTRY = `0x${'12'.repeat(20)}`;
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** A server that takes connections and never answers. */
async function startHung(): Promise<{ url: string; asked(): number }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    sockets.push(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, asked: () => sockets.length };
}

function openReceiver(): Receiver {
  const receiver = startReceiver();
  ends.push(() => receiver.stop());
  return receiver;
}

function openFolder(): string {
  const folder = temporaryFolder();
  ends.push(folder.remove);
  return folder.path;
}

async function start(dir: string, receiver: string, vars: Readonly<Record<string, string>> = {}): Promise<Program> {
  const program = await startProgram(
    {
      VAULT_SECRET,
      OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
      DATA_DIR: dir,
      WEBHOOK_URL: receiver,
      WEBHOOK_SECRET,
      WEBHOOK_ALLOW_PRIVATE: 'true',
      MAX_VERIFY_SENDS_PER_IP: '1000',
      MAX_REGISTRATIONS_PER_IP: '1000',
      ...vars,
    },
    { cwd: dir },
  );
  ends.push(() => program.stop('SIGKILL'));
  return program;
}

async function post(program: Program, path: string, body: unknown): Promise<Record<string, unknown>> {
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(program.url + path, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(response.status).toBe(200);
  return (await response.json()) as Record<string, unknown>;
}

/** A recorded registration, which the chain is asked about from then on. */
async function register(program: Program, n: number): Promise<void> {
  const who = { identifier: `user${n}@example.com`, channel: 'email' };
  await post(program, '/api/verify/send', who);
  const code = await until('the code is printed', () => codeFor(program, who.identifier));
  const { attestation } = await post(program, '/api/verify/check', { ...who, code });
  const hex = n.toString(16).padStart(64, '0');
  const credentialId = Buffer.from(hex, 'hex').toString('base64url');
  await post(program, '/api/dids', { ...who, did: `did:key:z${n}`, credentialId, txHash: `0x${hex}`, attestation });
}

function codeFor(program: Program, to: string): string | undefined {
  const line = program
    .output()
    .split('\n')
    .findLast((text) => text.includes(`"${to}"`) && text.includes('"event":"code"'));
  return line && (JSON.parse(line) as { code: string }).code;
}

const typesOf = (receiver: Receiver) => receiver.received.map(({ body }) => body.type as string);

test('a node that hangs keeps no webhook back', async () => {
  const [node, receiver] = [await startHung(), openReceiver()];
  const program = await start(openFolder(), receiver.url, {
    RPC_URL: node.url,
    FOLLOWER: 'true',
    DID_REGISTRY_ADDRESS: REGISTRY,
  });
  for (let n = 1; n <= 20; n++) await register(program, n);
  await until('the node is asked', () => node.asked() > 0);
  // An event that follows a look at the chain does not wait for the answer.
  await post(program, '/api/sessions', { handle: 'afterwards', did: 'did:key:zLater' });
  const countOf = (type: string) => typesOf(receiver).filter((one) => one === type).length;
  await until('the event of the session comes', () => countOf('session.created') > 0);
  await until('the events of 20 registrations come', () => countOf('registration.submitted') === 20);
});

test('a receiver that hangs keeps no registration back', async () => {
  const hung = await startHung();
  const program = await start(openFolder(), hung.url, { RPC_URL: 'http://127.0.0.1:1' });
  await post(program, '/api/sessions', { handle: 'first', did: 'did:key:zFirst' });
  await until('the receiver is asked', () => hung.asked() > 0);
  await register(program, 1);
  // Nothing listens where the chain should be, which the look at it says.
  await until('the chain is looked at', () => program.output().includes('chain_unreadable'));
});

test('what is acknowledged before the first background work of a killed process is delivered by the next', async () => {
  const [dir, receiver] = [openFolder(), openReceiver()];
  for (const name of ['first', 'second', 'third']) {
    const program = await start(dir, receiver.url);
    await post(program, '/api/sessions', { handle: name, did: `did:key:z${name}` });
    await program.stop(name === 'second' ? 'SIGTERM' : 'SIGKILL');
  }
  await start(dir, receiver.url);
  const came = () => typesOf(receiver).filter((type) => type === 'session.created').length;
  await until('three events come', () => came() === 3);
});
