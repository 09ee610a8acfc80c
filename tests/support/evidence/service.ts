import { fromHex, toBase64url, toHex, utf8 } from '../../../lib/base/bytes.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { createStore } from '../../../lib/db/store.ts';
import { parseIdentifier } from '../../../lib/identity/identifier.ts';
import { CONFIRMATION_LOOK_MS } from '../../../lib/registration/confirm.ts';
import { KEY_LOOK_PAUSE_MS } from '../../../lib/registration/look-again.ts';
import { signAttestation } from '../../../lib/verification/attestation.ts';
import { proveRegistration } from '../../../scripts/dev-stack/passkey-proof.ts';
import { createPasskey, type Passkey } from '../passkey.ts';
import { startVault, type TestVault, VAULT_SECRET } from '../vault.ts';
import { insertRelayed, settleRelays } from './relays.ts';
import { addressOf, nodeVars, startStandIn, txOf } from './stand-in.ts';
import { KEYS, keyOf, MAILS, type Post, type World } from './world.ts';

// The vault itself, over HTTP, in a world of the model.

/** Longer than the pause between two checks of a registration, and shorter than it may stay unseen. */
const STEP_MS = 31_000;
/** Looks so far apart let what is unseen fail. */
const LOOKS = 9;

/** A vault whose world a test changes. */
export interface Service {
  world: World;
  readonly vault: TestVault;
  /** The result of `POST /api/dids`: 200, or the error. */
  post(asked: Post): Promise<string>;
  /** Whether a claim that the vault sends itself is admitted; `number` is one of its own. */
  relay(asked: Post, number: number): Promise<boolean>;
  /** The result of `POST /api/sessions` for a handle. */
  openSession(handle: string, did: string): Promise<string>;
  /** What a look-up shows, and null for 404. */
  lookUp(credential: string, key: string | null): Promise<Readonly<Record<string, unknown>> | null>;
  isAvailable(identifier: string): Promise<boolean>;
  /** The status of the operator's undo. */
  undo(id: number): Promise<number>;
  /** Lets background work see the world; `isLong` lets what is unseen fail. */
  settle(isLong: boolean): Promise<void>;
  /** Forgets all registrations. */
  clear(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a vault on a stand-in for its node. */
export async function startService(first: World): Promise<Service> {
  const passkeys = new Map<string, Passkey>(KEYS.map((key) => [key, createPasskey()]));
  const hexOf = (name: string) => {
    const { x, y } = (passkeys.get(name) as Passkey).key;
    return toHex(x) + toHex(y);
  };
  const node = startStandIn(() => service.world, hexOf);
  const vault = await startVault({ ...nodeVars(node), ...GENEROUS, ATTESTATION_SIGNING_KEY: VAULT_SECRET });
  // The first request of this kind migrates the database.
  await vault.call('GET /api/sessions/status');
  const registrar = String((await vault.call('GET /api/contracts')).body.registrar);
  const db = createStore({
    database: vault.database,
    clock: vault.clock,
    metrics: createMetrics(),
    maxConnections: 1,
  });
  await db.ready();
  const nameOf = ({ pubKeyX, pubKeyY }: Readonly<Record<string, string>>) =>
    Array.from(passkeys.keys()).find((name) => `${pubKeyX}${pubKeyY?.slice(2)}` === `0x${hexOf(name)}`) ?? null;

  const service: Service = {
    world: first,
    vault,
    async post({ by, identifier, did, credentialId, proof, key = keyOf(by), isReal = true }) {
      const [channel, value] = namesOf(identifier);
      const now = vault.clock.now();
      const subject = { identifier: value, channel, did, credentialId: idOf(credentialId) };
      const attestation =
        channel === 'handle'
          ? undefined
          : signAttestation([fromHex(VAULT_SECRET) as Uint8Array], {
              identifier: parseIdentifier(channel, value),
              verifiedAt: now,
              ttlSeconds: 300,
              registrar,
            });
      const signer = proof === 'forged' ? createPasskey() : (passkeys.get(key) as Passkey);
      const request = { ...subject, smartAccount: addressOf(did), attestation };
      const contracts = { registrar, chainId: 84532, didRegistry: nodeVars(node).DID_REGISTRY_ADDRESS };
      const proven = proof === 'none' ? {} : proveRegistration(signer, contracts, request, { now });
      const txHash = txOf(isReal ? did : 'nothing');
      const { status, body } = await vault.call('POST /api/dids', { ...subject, attestation, txHash, ...proven });
      return status === 200 ? 'ok' : String(body.error);
    },
    relay({ by, identifier, did, credentialId, key = keyOf(by) }, number) {
      const claim = { identifier: storedKey(identifier), did, credentialId: idOf(credentialId), number };
      return insertRelayed(db, vault, { ...claim, proofKey: hexOf(key) });
    },
    async openSession(handle, did) {
      const [channel, identifier] = namesOf(handle);
      const { status, body } = await vault.call('POST /api/sessions', { identifier, channel, did });
      return status === 200 ? 'ok' : String(body.error);
    },
    async lookUp(credential, key) {
      const named = passkeys.get(key ?? '')?.key;
      const point = named ? { pubKeyX: `0x${toHex(named.x)}`, pubKeyY: `0x${toHex(named.y)}` } : {};
      const query = { credentialId: idOf(credential), ...point };
      const { status, body } = await vault.call('GET /api/dids/lookup', query);
      if (status !== 200) return null;
      const { did, channel, final, proven, proofs, ambiguous = false } = body;
      return { did, channel, status: body.status, final, proven, proofs, ambiguous, key: nameOf(body) };
    },
    async isAvailable(name) {
      const [channel, identifier] = namesOf(name);
      return (await vault.call('GET /api/sessions/check', { identifier, channel })).body.available;
    },
    async undo(id) {
      return (await vault.call('POST /v1/console/registrations/undo', { id }, OPERATOR)).status;
    },
    async settle(isLong) {
      for (let look = 0; isLong && look < LOOKS; look++) {
        await vault.clock.advance(CONFIRMATION_LOOK_MS);
        await vault.work();
      }
      await vault.clock.advance(STEP_MS);
      await settleRelays(db, vault, service.world, isLong);
      await vault.work();
      // Somebody looks each credential up, after long.
      await vault.database.execute({ sql: `UPDATE key_accounts SET due_at = 0`, args: {} });
      await vault.clock.advance(KEY_LOOK_PAUSE_MS);
      await vault.work();
    },
    async clear() {
      for (const table of [
        'account_keys',
        'key_accounts',
        'credentials',
        'relays',
        'registrations',
        'sessions',
        'attestation_uses',
      ])
        await vault.database.execute({ sql: `DELETE FROM ${table}`, args: {} });
      await vault.clock.advance(STEP_MS);
    },
    async stop() {
      await vault.stop();
      await node.stop();
    },
  };
  return service;
}

const OPERATOR = { Authorization: `Bearer ${VAULT_SECRET.replace('00', 'ff')}` };
const GENEROUS = {
  MAX_REGISTRATIONS_PER_IP: '100000',
  RATE_LIMIT_PROXY_PER_IP: '1000000',
  RATE_LIMIT_READS_PER_IP: '1000000',
  RATE_LIMIT_WRITES_PER_IP: '1000000',
  SESSION_TTL_SECONDS: '600',
};

/** Channel and value of an identifier of the world. */
function namesOf(identifier: string): ['handle' | 'email', string] {
  const name = identifier.slice(identifier.indexOf(':') + 1);
  return identifier.startsWith('handle:') ? ['handle', name] : ['email', `${name}@example.com`];
}

/** The key under which the vault stores an identifier of the world. */
export function storedKey(identifier: string): string {
  const [channel, value] = namesOf(identifier);
  return parseIdentifier(channel, value).key;
}

function idOf(credential: string): string {
  return toBase64url(utf8(credential));
}

export const IDENTIFIERS = ['handle:red', 'handle:blue', ...MAILS];
