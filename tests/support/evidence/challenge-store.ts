import { join } from 'node:path';
import * as AbiParameters from 'ox/AbiParameters';
import { openSqlite } from '../../../commands/storage/sqlite.ts';
import { rpcError } from '../../../lib/base/error.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import type { Statement } from '../../../lib/db/database.ts';
import {
  KEPT_OUT_TO,
  letGo,
  selectChallenged,
  settleHolders,
  withdrawChallengers,
} from '../../../lib/holders/holders.ts';
import { createMover } from '../../../lib/moves/move.ts';
import { undoRegistration } from '../../../lib/registration/change-store.ts';
import { temporaryFolder } from '../databases.ts';
import { putMigratedFile } from '../migrated-file.ts';
import { type Address, type Claim, MOVE_HOURS } from './challenge-model.ts';

/** A fault planted in the store: a text of its SQL in place of another; or in what the mover hears of the chain. */
export interface Fault {
  readonly sql?: readonly (readonly [string, string])[];
  readonly chain?: 'always ahead' | 'never away';
}

const IDENTIFIER = 'email:held@example.com';
const named = { identifier: IDENTIFIER };
const DUE = `due_at = :now WHERE ended_at IS NULL`;

/** The vault's own statements and mover over a real database, for the histories of `challenge-model.ts`. */
export function openChallengeStore() {
  const folder = temporaryFolder();
  const path = join(folder.path, 'vault.db');
  putMigratedFile(path);
  const file = openSqlite(path);
  let fault: Fault = {};
  const faulty = (one: Statement): Statement => ({
    ...one,
    sql: (fault.sql ?? []).reduce((sql, [right, wrong]) => sql.replaceAll(right, wrong), one.sql),
  });
  const db = {
    read: async (one: Statement) => (await file.execute(faulty(one))).rows,
    write: (...all: readonly Statement[]) => file.batch(all.map(faulty), 'write'),
  };
  let passes = 0;
  const metrics = createMetrics();

  /** The surroundings of the mover, as the history says. */
  function surroundings({ now, chainNow, isNodeAway, isMailAway, holder }: Address) {
    const entry = AbiParameters.from('address controller, uint256, uint256, string metadataCid, bool active');
    const answers: Readonly<Record<string, unknown>> = {
      eth_blockNumber: '0x1',
      eth_getCode: '0x',
      eth_call: AbiParameters.encode(entry, [(holder?.controller ?? NOBODY) as `0x${string}`, 1n, 1n, '', true]),
      eth_getBlockByNumber: {
        number: '0x1',
        hash: `0x${'1'.repeat(64)}`,
        timestamp: `0x${(fault.chain === 'always ahead' ? 2 ** 40 : Math.floor(chainNow / 1000)).toString(16)}`,
      },
    };
    return {
      db,
      metrics,
      config: {
        ...{ chainId: 1, finalityBlocks: 0, addressMoveHours: MOVE_HOURS, didRegistryAddress: `0x${'9'.repeat(40)}` },
        ...{ defaultLanguage: 'en', baseUrl: 'https://vault.example' },
      },
      clock: { now: () => now, monotonic: () => now },
      random: (bytes: number) => new Uint8Array(bytes).fill(0).map((_, at) => (++passes >> (8 * (at % 4))) & 255),
      log: () => undefined,
      witness: undefined,
      sms: { kind: 'own', send: () => Promise.reject(new Error('no numbers here')) },
      email: { isOff: false, send: () => (isMailAway ? Promise.reject(new Error('away')) : Promise.resolve()) },
      rpc: {
        call: async (_: number, method: string) => {
          if (isNodeAway && fault.chain !== 'never away') throw rpcError('away');
          return answers[method];
        },
      },
    } as unknown as Parameters<ReturnType<typeof createMover>>[0];
  }

  const settleOf = (id: number, now: number) => settleHolders({ sql: 'id = :id', args: { id } }, now);

  return {
    async clear(planted: Fault): Promise<void> {
      fault = planted;
      for (const table of ['registrations', 'challenges', 'challenge_notices', 'events', 'codes', 'credentials'])
        await file.execute({ sql: `DELETE FROM ${table}`, args: {} });
    },
    async claim(id: number, { did, key, controller, hasProof }: Claim, now: number): Promise<void> {
      const row = { id, ...named, did, controller, key, credential: `credential of ${did}`, now };
      const sql = `INSERT INTO registrations (id, identifier, channel, did, did_hash, alias_hash, credential_id, tx_hash,
        proof, proof_key, controller, controller_key, status, registered_at, unseen_since) VALUES (:id, :identifier,
        'email', :did, :did, '', :credential, :did, ${hasProof ? `'proof', :key` : 'NULL, NULL'}, :controller, :key,
        'confirmed', :now, :now)`;
      await db.write({ sql, args: row }, ...settleOf(id, now));
    },
    /** Changes a column of a claim as the look at the chain does. */
    async change(id: number, set: string, now: number): Promise<void> {
      await db.write({ sql: `UPDATE registrations SET ${set} WHERE id = :id`, args: { id } }, ...settleOf(id, now));
    },
    async undo(id: number, now: number): Promise<void> {
      await db.write(...undoRegistration(id, now));
    },
    /** What a renewal's batch does with the others; false where nobody else claims the address. */
    async renew(now: number): Promise<boolean> {
      const [found] = await db.read({
        sql: `SELECT 1 FROM registrations AS holder JOIN registrations AS claim ON claim.identifier = holder.identifier
          WHERE holder.holds = 1 AND holder.final = 1 AND holder.proof_key IS NOT NULL AND holder.active = 1
            AND claim.id > holder.id AND claim.did <> holder.did AND claim.proof IS NOT NULL
            AND claim.status <> 'failed' AND claim.lost IS NULL`,
        args: {},
      });
      if (!found) return false;
      const all = withdrawChallengers(IDENTIFIER, now, { sql: '1 = 1', args: {} });
      await db.write(...all, ...settleHolders({ sql: 'identifier = :identifier', args: named }, now));
      return true;
    },
    /** The holder lets go of its address to the DID that asks for it, if one does. */
    async release(now: number): Promise<string | undefined> {
      const [row] = await db.read(selectChallenged(IDENTIFIER));
      if (!row) return undefined;
      const did = String(row['did']);
      await db.write(...letGo({ ...named, did, holder: Number(row['holder_id']) }, now));
      return did;
    },
    /** A turn of the mover, in which all that waits for another try is due. */
    async work(address: Address): Promise<void> {
      const { now } = address;
      await db.write(
        { sql: `UPDATE challenges SET ${DUE}`, args: { now } },
        {
          sql: `UPDATE challenge_notices SET due_at = :now WHERE kind = 'begun' AND sent_at IS NULL AND challenge_id IN
            (SELECT id FROM challenges WHERE ended_at IS NULL)`,
          args: { now },
        },
      );
      await createMover()(surroundings(address));
    },
    /** What the database says, in the words of the model. */
    async state(dids: readonly string[], now: number): Promise<unknown> {
      const claims = await db.read({
        sql: `SELECT did, holds, waits, lost IS NOT NULL AS lost, status = 'failed' AS failed FROM registrations ORDER BY id`,
        args: {},
      });
      const challenges = await db.read({
        sql: `SELECT did, moves_at, ended_at, ended_by FROM challenges ORDER BY id`,
        args: {},
      });
      const keptOut = dids.map(async (did) => {
        const [row] = await db.read({ sql: `SELECT ${KEPT_OUT_TO}`, args: { ...named, did, now } });
        return row?.['kept_out_to'] ?? null;
      });
      return {
        claims: claims.map((row) => Object.values(row)),
        challenges: challenges.map((row) => Object.values(row)),
        keptOut: await Promise.all(keptOut),
      };
    },
    close(): void {
      file.close();
      folder.remove();
    },
  };
}

const NOBODY = `0x${'0'.repeat(40)}`;

/** A store of a test's own. */
export type ChallengeStore = ReturnType<typeof openChallengeStore>;
