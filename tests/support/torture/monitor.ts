import type { Ledger } from './ledger.ts';
import type { Member, Time } from './place.ts';

/** Asks vaults all the time whether they are ready, and whether that is true. */
export interface Monitor {
  /** Waits until all are ready; a violation if that takes longer than a person would wait. */
  untilReady(after: string): Promise<void>;
  end(): Promise<void>;
}

/** No fault keeps a vault from its work for longer than that once it is over. */
const RECOVERY_MS = 60_000;
/** A vault may say for so long what it found before. */
const REUSE_MS = 2_000;
const PROOFS = 6;
const LIMIT_MS = 15_000;

/** Starts it. */
export function startMonitor(
  { members, time }: { readonly members: readonly Member[]; readonly time: Time },
  ledger: Ledger,
  pace: { readonly pollMs: number },
): Monitor {
  let isOver = false;
  let writes = 0;
  const watching = Promise.all(members.map(watch));

  /** A vault that says "writable" for two seconds and more, and refuses each write meanwhile, lies. */
  async function watch(member: Member): Promise<void> {
    let [since, refused, pid] = [Number.NaN, 0, 0];
    while (!isOver) {
      const ready = await statusOf(member, '/readyz');
      const isSame = member.pid() === pid;
      pid = member.pid() ?? 0;
      if (ready !== 200 || !isSame || member.isPaused) [since, refused] = [Number.NaN, 0];
      else if (Number.isNaN(since)) since = time.now();
      const taken = await write(member, writes++);
      if (taken === 503 || taken === 500) refused++;
      else [since, refused] = [Number.NaN, 0];
      // What it says now is of a check that was made after the first refusal.
      if (refused >= PROOFS && time.now() > since + 2 * REUSE_MS && !member.isPaused) {
        ledger.violate('no answer is a lie', `${member.name} says that it is ready, and refused ${refused} writes`);
        [since, refused] = [Number.NaN, 0];
      }
      ledger.checked('readiness compared with writes');
      await time.sleep(pace.pollMs);
    }
  }

  return {
    async untilReady(after) {
      const end = time.now() + RECOVERY_MS;
      for (const member of members) {
        let status = 0;
        while (time.now() < end && status !== 200) {
          status = await statusOf(member, '/readyz');
          if (status !== 200) await time.sleep(100);
        }
        if (status !== 200)
          ledger.violate('it recovers without a human', `${member.name} is not ready a minute after ${after}`);
      }
    },
    async end() {
      isOver = true;
      await watching;
    },
  };
}

function statusOf(member: Member, path: string, init: RequestInit = {}): Promise<number> {
  return member.fetch(path, init, LIMIT_MS).then(
    async (response) => {
      await response.body?.cancel();
      return response.status;
    },
    () => 0,
  );
}

/** A write that leaves nothing that the audit counts, by a client of its own: a limit refuses without writing. */
function write(member: Member, n: number): Promise<number> {
  const body = JSON.stringify({ identifier: `monitor${n}@example.net`, channel: 'email', did: 'did:key:zMonitor' });
  const ip = `172.${16 + ((n >> 16) & 15)}.${(n >> 8) & 255}.${n & 255}`;
  const headers = { 'Content-Type': 'application/json', 'Edge-Connecting-IP': ip };
  return statusOf(member, '/api/sessions', { method: 'POST', headers, body });
}
