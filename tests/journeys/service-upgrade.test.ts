// The steps of docs/operating.md, "Upgrading", with the built program behind each of the three proxies.
import { Database } from 'bun:sqlite';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../scripts/dev-stack/port.ts';
import { buildBinary } from '../support/binary.ts';
import { temporaryFolder } from '../support/databases.ts';
import { startHaproxy } from '../support/haproxy.ts';
import { startProgram } from '../support/program.ts';
import { programAt, startCaddy, startNginx, switchFile } from '../support/proxies.ts';
import { runProgram } from '../support/run.ts';
import { startLoad } from '../support/steady-load.ts';
import { untilSo } from '../support/until.ts';
import { VAULT_SECRET } from '../support/vault.ts';

const PER_SECOND = 500;
/** As many answers say that all is well before a step and after it: connections are kept, and each carries several. */
const SOME = 250;
const MANY = '1000000';
const VARS = {
  VAULT_SECRET,
  OPERATOR_SECRET: VAULT_SECRET.replace('00', 'ff'),
  FOLLOWER: 'false',
  MAX_REGISTRATIONS_PER_IP: MANY,
  MAX_VERIFY_SENDS_PER_IP: MANY,
  EMAIL_DAILY_MAX: MANY,
  RATE_LIMIT_WRITES_PER_IP: MANY,
  RATE_LIMIT_READS_PER_IP: MANY,
};

/** A proxy in front of two ports. */
interface Front {
  readonly port: number;
  /** Where HAProxy takes orders. */
  readonly socket?: string;
  stop(): Promise<void>;
}

type Start = (program: string, folder: string, ports: readonly [number, number]) => Promise<Front>;

const at = (port: number) => `http://127.0.0.1:${port}`;
const PROXIES: Readonly<Record<string, Start>> = {
  nginx: (program, folder, [one, two]) => startNginx({ program, folder, upstream: at(one), second: at(two) }),
  caddy: (program, folder, [one, two]) => startCaddy({ program, folder, upstream: at(one), second: at(two) }),
  haproxy: (_, folder, ports) => startHaproxy(folder, ports),
};

describe('an upgrade under 500 requests a second', () => {
  let vault: { path: string; remove(): void };
  const ends: (() => unknown)[] = [];
  beforeAll(async () => {
    vault = await buildBinary();
  });
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  afterAll(() => vault?.remove());

  for (const [name, startProxy] of Object.entries(PROXIES)) {
    const program = programAt(name);
    if (program === undefined) {
      console.log(`no ${name} on this machine: no upgrade behind it is tried`);
      continue;
    }

    test(`behind ${name} refuses nothing and loses nothing`, async () => {
      const folder = temporaryFolder();
      ends.push(folder.remove);
      // As in /run, nginx's workers may look for a file by its name.
      chmodSync(folder.path, 0o711);
      const ports = [freePort(), freePort()] as const;
      const start = async (port: number) => {
        const vars = { ...VARS, PORT: String(port), BASE_URL: at(ports[0]), DATA_DIR: folder.path };
        const one = await startProgram(vars, { cwd: folder.path, binary: vault.path });
        ends.push(() => one.stop('SIGKILL'));
        return one;
      };
      const first = await start(ports[0]);
      const front = await startProxy(program, folder.path, ports);
      ends.push(front.stop);
      const socket = front.socket ?? join(folder.path, 'none');
      const places = ['--switch-file', switchFile(folder.path), '--haproxy-socket', socket];
      const turn = (which: string) =>
        runProgram(['service', 'switch', which, '--second-port', String(ports[1]), ...places], {
          cwd: folder.path,
          binary: vault.path,
          vars: { ...VARS, PORT: String(ports[0]), DATA_DIR: folder.path },
        });
      const load = startLoad(front.port, PER_SECOND);
      ends.push(load.stop);
      const { found } = load;
      const more = async (count: number) => {
        const enough = found.answered + count;
        await untilSo(
          async () => found.answered,
          (answered) => answered >= enough,
        );
      };
      await more(SOME);

      const second = await start(ports[1]);
      expect(await turn('second')).toMatchObject({ code: 0, err: '' });
      // What the first was answering is answered soon; then it gets no more.
      const isLeftAlone = async () => {
        const before = await answeredBy(ports[0]);
        await more(SOME);
        return (await answeredBy(ports[0])) === before;
      };
      await untilSo(isLeftAlone, (so) => so);
      expect(await first.stop()).toBe(0);
      await start(ports[0]);
      expect(await turn('first')).toMatchObject({ code: 0, err: '' });
      await more(SOME);
      expect(await answeredBy(ports[0])).toBeGreaterThan(0);
      expect(await second.stop()).toBe(0);
      await more(SOME);
      await load.stop();

      expect(found.wrong).toEqual([]);
      const database = new Database(join(folder.path, 'vault.db'), { readonly: true });
      ends.push(() => database.close());
      const stored = (table: string) =>
        new Set(
          database
            .query<{ identifier: string }, []>(`SELECT identifier FROM ${table}`)
            .all()
            .map((row) => row.identifier),
        );
      const lost = (acknowledged: Set<string>, table: string) => {
        const kept = stored(table);
        return [...acknowledged].filter((one) => !kept.has(one) && !kept.has(`email:${one}`));
      };
      expect([found.sessions.size > SOME / 2, found.sends.size > SOME / 4]).toEqual([true, true]);
      expect(lost(found.sessions, 'sessions')).toEqual([]);
      expect(lost(found.sends, 'codes')).toEqual([]);
    });
  }
});

/** How many requests for the sessions' state a vault has answered. */
async function answeredBy(port: number): Promise<number> {
  const text = await (await fetch(`${at(port)}/metrics`)).text();
  const lines = text.matchAll(/^vault_http_requests_total\{[^}]*route="\/api\/sessions\/status"[^}]*\} (\d+)/gm);
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
}
