import { withRow } from '../../../lib/db/row-lock.ts';
import type { OwnedStore } from '../../../lib/db/store.ts';
import { didHash } from '../../../lib/identity/did.ts';
import { insertClaim, type NewClaim } from '../../../lib/registration/claim-store.ts';
import { failRelay, mineRelay, reopenRelay } from '../../../lib/relay/change-store.ts';
import { readRelay } from '../../../lib/relay/requests.ts';
import { shareOf } from '../shares.ts';
import type { TestVault } from '../vault.ts';
import { addressOf, txOf } from './stand-in.ts';
import { isSeveral, type World } from './world.ts';

// Registrations that the vault sends itself. The stand-in takes no transactions: the statements are run as the relay
// runs them when a transaction is mined, re-orged away or given up.

/** What a relayed claim is written with; `proofKey` is 64 bytes as hex. */
export interface RelayedClaim {
  readonly identifier: string;
  readonly did: string;
  readonly credentialId: string;
  readonly proofKey: string;
  readonly number: number;
}

/** Writes a relayed claim; true if it was admitted. */
export async function insertRelayed(db: OwnedStore, { clock }: TestVault, asked: RelayedClaim): Promise<boolean> {
  const { identifier, did, credentialId, proofKey, number } = asked;
  const now = clock.now();
  const claim: NewClaim = {
    identifier,
    channel: 'email',
    did,
    didHash: didHash(did),
    aliasHash: didHash(identifier),
    credentialId,
    txHash: '',
    blockNumber: null,
    smartAccount: addressOf(did),
    proof: `relayed ${number}`,
    proofKey: `0x${proofKey}`,
    accountKeys: isSeveral(did) ? { account: addressOf(did), keys: [`0x${proofKey}`], signer: null } : null,
    ledTo: '',
    attestation: { signature: `relayed ${number} at ${now}`, expiresAt: now + 1_000 },
    app: 'default',
    ip: '203.0.113.7',
    share: shareOf(now),
    perIp: 100_000,
    windowSeconds: 0,
    sessionExpiresAt: now + 600_000,
    relay: {
      chainId: 84532,
      registry: addressOf('the registry'),
      controller: addressOf(did),
      network: '203.0.113.7',
      dailyMax: 100_000,
      shareMax: 100_000,
    },
    now,
  };
  const [admitted] = await withRow({ db, clock }, identifier, (fence) => db.write(...insertClaim(claim, fence)));
  // It is sent at once.
  await db.write({ sql: `UPDATE relays SET status = 'signed' WHERE status = 'queued'`, args: {} });
  return admitted?.rowsAffected === 1;
}

/** Lets the relays see the world; `isLong` gives up what is not mined. */
export async function settleRelays(db: OwnedStore, { clock, rows }: TestVault, world: World, isLong: boolean) {
  const open = await rows(`SELECT relays.id, did FROM relays JOIN registrations ON registrations.id = registration_id
    WHERE relays.status IN ('signed', 'mined')`);
  for (const { id, did } of open) {
    const relay = await readRelay(db, Number(id));
    const state = world.dids.get(String(did));
    const now = clock.now();
    if (state !== undefined) {
      const isFinal = state === 'final';
      const block = { txHash: txOf(String(did)), block: 1, blockHash: didHash(`relayed ${did}`), isFinal };
      await db.write(...mineRelay(relay, { ...block, nextCheckAt: now }, now));
    } else if (isLong) await db.write(...failRelay(relay, 'dropped', now));
    else if (relay.status === 'mined') await db.write(...reopenRelay(relay, 1, now));
  }
}
