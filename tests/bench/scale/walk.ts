import { systemClock } from '../../../lib/base/clock.ts';
import type { LogEntry } from '../../../lib/base/log.ts';
import type { Database } from '../../../lib/db/database.ts';
import { createVault, type Vault } from '../../../routes/index.ts';
import { VAULT_SECRET } from '../../support/vault.ts';
import { credentialOf, hexOf, KINDS } from './keys.ts';

/** Asks of a vault on a database what people, sites and an operator ask, for each of these registrations. */
export async function walk(database: Database, people: readonly number[]): Promise<void> {
  const entries: LogEntry[] = [];
  const vars = { ...VARS, BASE_URL: 'http://localhost', LOG_LEVEL: 'debug' };
  // Nobody answers: webhooks and the chain are asked in vain.
  const fetch = async () => Response.json({}, { status: 503 });
  const vault = createVault({ vars, database, fetch, log: (entry) => entries.push(entry) });
  for (const [round, n] of people.entries()) {
    await beNewcomer(vault, entries);
    await beKnown(vault, n);
    await beOperator(vault, n);
    entries.length = 0;
    if (round % TURNS_EVERY === 0) await vault.work(systemClock.now() + 1_000);
  }
  await vault.close();
}

/** Background work runs once in so many rounds. */
const TURNS_EVERY = 10;
const OPERATOR_SECRET = VAULT_SECRET.replace('00', 'ff');
const VARS = {
  VAULT_SECRET,
  OPERATOR_SECRET,
  DID_REGISTRY_ADDRESS: 'none',
  FOLLOWER: 'false',
  EMAIL_DAILY_MAX: '1000000000',
  WEBHOOK_URL: 'https://hooks.example/vault',
  WEBHOOK_SECRET: `whsec_${btoa('0'.repeat(32))}`,
};
/** Numbers that no file has, others at each run. */
let next = 5_000_000 + Math.floor(Math.random() * 1_000_000_000);

/** Sends, checks, opens a session and registers, as nobody known. */
async function beNewcomer(vault: Vault, entries: readonly LogEntry[]): Promise<void> {
  const n = next++;
  const ask = askOf(vault, `11.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`);
  const alice = { identifier: `${hexOf(n, 2, KINDS.did)}@example.net`, channel: 'email' };
  const key = { 'Idempotency-Key': `walk-${n}` };
  await ask('POST /api/verify/send', alice, key);
  const code = entries.findLast(({ event }) => event === 'code')?.['code'];
  await ask('POST /api/verify/check', { ...alice, code: '000000' });
  const { attestation } = await ask('POST /api/verify/check', { ...alice, code });
  const claim = { did: `did:key:z${n}`, credentialId: hexOf(n, 4, KINDS.did), txHash: `0x${hexOf(n, 8, KINDS.block)}` };
  await ask('POST /api/dids', { ...alice, ...claim, attestation }, key);
  const handle = `w${hexOf(n, 2, KINDS.did)}`;
  await ask('POST /api/sessions', { handle, did: claim.did });
  await ask('GET /api/sessions/check', { identifier: handle, channel: 'handle' });
}

/** Asks for one of those registered, and for what is his. */
async function beKnown(vault: Vault, n: number): Promise<void> {
  const ask = askOf(vault, `12.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`);
  const handle = `u${hexOf(n - (n % 4) + 4, 2, KINDS.identifier)}`;
  const address = { identifier: `${hexOf(n - (n % 4) + 2, 2, KINDS.identifier)}@example.com`, channel: 'email' };
  const credentialId = credentialOf(n);
  await ask('GET /api/dids/lookup', { credentialId });
  await ask('GET /api/dids/lookup', { credentialId, pubKeyX: '1', pubKeyY: '2' });
  await ask('GET /api/verify/status', address);
  await ask('POST /api/verify/send', address);
  await ask('POST /api/verify/check', { ...address, code: '000000' });
  await ask('GET /api/sessions/check', { identifier: handle, channel: 'handle' });
  await ask('GET /api/sessions/status');
  await ask('POST /api/sessions', { handle, did: 'did:key:z6MkStranger' });
  await ask('GET /api/aliases/check', { alias: handle });
  await ask('GET /api/indexer/aliases', { hash: `0x${hexOf(n, 8, KINDS.alias)}` });
  await ask('GET /api/indexer/dids', { hash: `0x${hexOf(n, 8, KINDS.did)}` });
  await ask('GET /api/indexer/stats');
  await ask('GET /readyz');
}

async function beOperator(vault: Vault, n: number): Promise<void> {
  const ask = askOf(vault, '192.0.2.1', { Authorization: `Bearer ${OPERATOR_SECRET}` });
  const did = `did:pkh:eip155:84532:0x${hexOf(n, 5, KINDS.account)}`;
  for (const page of ['overview', 'recoveries', 'webhooks', 'events', 'registrations'])
    await ask(`GET /v1/console/${page}`);
  await ask('GET /v1/console/registrations', { did });
  await ask('GET /v1/console/registrations', { identifier: `${hexOf(n, 2, KINDS.identifier)}@example.com` });
  for (const status of ['dead', 'delivered']) await ask('GET /v1/console/webhooks', { status });
  await ask('POST /v1/console/limits/clear', { kind: 'sends-per-ip', key: `13.${n >> 16}.${(n >> 8) & 255}.1` });
  await ask('GET /metrics');
  const { token } = await ask('POST /v1/console/token', { channels: ['audit'] });
  if (token) await ask('POST /v1/console/revoke', { token });
}

type Fields = Readonly<Record<string, unknown>>;

/** Requests of one client; the answers' bodies. */
function askOf(vault: Vault, peer: string, always: Readonly<Record<string, string>> = {}) {
  return async (line: string, fields: Fields = {}, headers: Readonly<Record<string, string>> = {}) => {
    const [method = '', path = ''] = line.split(' ');
    const url = new URL(path, 'http://localhost');
    const isPost = method === 'POST';
    if (!isPost) for (const [name, value] of Object.entries(fields)) url.searchParams.set(name, `${value}`);
    const request = new Request(url, {
      method,
      headers: { Host: 'localhost', 'Content-Type': 'application/json', ...always, ...headers },
      ...(isPost && { body: JSON.stringify(fields) }),
    });
    const response = await vault.fetch(request, { peer });
    if (response.status >= 500 && response.status !== 503) throw new Error(`${line}: ${await response.text()}`);
    const text = await response.text();
    return (text.startsWith('{') ? JSON.parse(text) : {}) as Record<string, unknown>;
  };
}
