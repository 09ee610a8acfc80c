import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { systemRandom } from '../../lib/base/random.ts';
import { createClientSecret, secretDigest } from '../../lib/clients/secret.ts';
import { type Candidate, createCandidate, type RelayChain } from '../support/candidates.ts';
import { until } from '../support/until.ts';
import { request } from './frame/load.ts';
import { startServer, type Target } from './frame/target.ts';
import { ask, bodyOf, IP, type Provider, REDIRECT_URI } from './sign-in-work.ts';

const PEOPLE = 16;
/** The chain may take its time to confirm so many. */
const REGISTERED_WITHIN_MS = 120_000;
const UNLIMITED = '1000000000';

/** A vault on this chain, its files in this folder, with people who have an account and a passkey. */
export async function startVaultProvider(chain: RelayChain, folder: string): Promise<Provider> {
  const client = { id: 'tea', secret: createClientSecret(systemRandom) };
  const clients = join(folder, 'clients.json');
  const entry = { redirect_uris: [REDIRECT_URI], secrets: [secretDigest(client.secret)] };
  await Bun.write(clients, JSON.stringify({ [client.id]: entry }));
  const target = await startServer('vault', {
    ...chain.vars,
    // The origin at which the passkeys sign.
    BASE_URL: 'http://localhost',
    APPS: client.id,
    CLIENTS: clients,
    // Its own file, with the background work of `vault serve`.
    DATABASE_URL: `file:${join(folder, 'sign-in.db')}`,
    RATE_LIMIT_PER_CLIENT: UNLIMITED,
    RELAY_DAILY_MAX: UNLIMITED,
    MAX_REGISTRATIONS_PER_IP: UNLIMITED,
  });
  const people = await Promise.all(Array.from({ length: PEOPLE }, (_, n) => createCandidate(chain, `bench${n}`)));
  for (const person of people) await register(target, person);
  let [asked, read] = [0, 0];
  const someone = (n: number) => people[n % PEOPLE] as Candidate;
  return {
    target,
    client,
    tokenPath: '/token',
    userinfoPath: '/userinfo',
    jwksPath: '/jwks',
    read: () => request('GET', `/api/dids/lookup?credentialId=${someone(read++).credentialId}`, { ip: IP }),
    open: async (query) => void (await bodyOf(await ask(target, `/authorize?${query}`))),
    answer: (query) => answer(target, someone(asked++), query),
  };
}

/** Has the vault register somebody, and waits until the chain has confirmed it. */
async function register(target: Target, { body, credentialId }: Candidate): Promise<void> {
  const path = `/api/dids/lookup?credentialId=${credentialId}`;
  await until('a relay', async () => (await post(target, '/api/dids', body)).status === 200, REGISTERED_WITHIN_MS);
  const isConfirmed = async () => JSON.parse(await bodyOf(await ask(target, path))).status === 'confirmed';
  await until('a confirmed registration', isConfirmed, REGISTERED_WITHIN_MS);
}

/** What the page does once the person agrees: the passkey signs the request and a nonce, and the vault says where to. */
async function answer(target: Target, { passkey, credentialId }: Candidate, query: string): Promise<URL> {
  const { nonce } = JSON.parse(await bodyOf(await post(target, '/authorize/code', { request: query, fresh: true })));
  const digest = createHash('sha256').update(query).digest('base64url');
  const lines = ['vault/authorize/v2', 'did:web:registrar.example', digest, nonce];
  const proof = passkey.assert(createHash('sha256').update(lines.join('\n')).digest());
  const evidence = { request: query, credentialId, nonce, proof, identifiers: {} };
  const { location } = JSON.parse(await bodyOf(await post(target, '/authorize/code', evidence)));
  return new URL(location);
}

function post(target: Target, path: string, body: unknown): Promise<Response> {
  const headers = { 'Content-Type': 'application/json' };
  return ask(target, path, { method: 'POST', body: JSON.stringify(body), headers });
}
