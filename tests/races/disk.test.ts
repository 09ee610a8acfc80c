import { afterEach, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { openSqlite } from '../../commands/storage/sqlite.ts';
import { temporaryFolder } from '../support/databases.ts';
import {
  auditClaims,
  type Claimants,
  createClaimants,
  NOTHING_WRONG,
  untilOpened,
  untilRefused,
} from '../support/hostile/claimants.ts';
import { canSpoilDisk, DISK_FAULTS, spoilDisk } from '../support/hostile/disk-faults.ts';
import { isLong } from '../support/long.ts';
import { type Program, SERVE, startListening } from '../support/program.ts';
import { until } from '../support/until.ts';
import { VAULT_SECRET } from '../support/vault.ts';

// Real programs on a disk that fails under them.

const CLIENTS = 16;
/** Requests that a bad disk refuses, or sessions that a late one acknowledges, before it is healed. */
const TROUBLES = isLong ? 100 : 10;
const ROUNDS = isLong ? 4 : 1;
const FAULTS = Object.keys(DISK_FAULTS) as (keyof typeof DISK_FAULTS)[];

const isPossible = await canSpoilDisk();
if (!isPossible) console.log('strace may not be used here: no disk fails');

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function openFolder(): string {
  const folder = temporaryFolder();
  ends.push(folder.remove);
  return folder.path;
}

async function start(dir: string): Promise<Program> {
  const env = {
    PORT: '0',
    LOG_FORMAT: 'json',
    DID_REGISTRY_ADDRESS: 'none',
    VAULT_SECRET,
    OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
    DATA_DIR: dir,
    RATE_LIMIT_READS_PER_IP: '1000000',
    RATE_LIMIT_WRITES_PER_IP: '1000000',
  };
  const program = await startListening(SERVE, { cwd: dir, env });
  ends.push(() => program.stop('SIGKILL'));
  return program;
}

const untilReady = (program: Program) =>
  until('the vault is ready', async () => (await fetch(`${program.url}/readyz`)).status === 200);
const isLate = (fault: (typeof FAULTS)[number]) => fault.endsWith('late');

async function expectNothingWrong(dir: string, { acknowledged }: Claimants): Promise<void> {
  const database = openSqlite(join(dir, 'vault.db'));
  expect(await auditClaims(database, acknowledged)).toEqual(NOTHING_WRONG);
  const { rows } = await database.execute({ sql: 'PRAGMA integrity_check', args: {} });
  expect(rows).toEqual([{ integrity_check: 'ok' }]);
  database.close();
  expect(acknowledged.sessions.size).toBeGreaterThan(0);
}

describe.skipIf(!isPossible)('nothing that was acknowledged is lost', () => {
  test.each(FAULTS)('while %s, and after a kill in the midst of it', async (fault) => {
    const dir = openFolder();
    let program = await start(dir);
    const claimants = createClaimants(() => [program], 'd');
    const running = claimants.run(CLIENTS);
    const untilTroubled = () => (isLate(fault) ? untilOpened : untilRefused)(claimants, TROUBLES);
    for (let round = 0; round < ROUNDS; round++) {
      await untilOpened(claimants, CLIENTS);
      const disk = await spoilDisk(program.pid, fault);
      await untilTroubled();
      // The event loop is free: what needs no disk is answered.
      expect((await fetch(`${program.url}/api/sessions/status`)).status).toBe(200);
      await disk.heal();
      await untilReady(program);
      const worse = await spoilDisk(program.pid, fault);
      await untilTroubled();
      await program.stop('SIGKILL');
      await worse.heal();
      program = await start(dir);
    }
    await untilOpened(claimants, CLIENTS);
    claimants.end();
    await running;
    expect(await program.stop()).toBe(0);
    await expectNothingWrong(dir, claimants);
    if (isLong) console.log(JSON.stringify([fault, Object.fromEntries(claimants.acknowledged.statuses)]));
  });
});
