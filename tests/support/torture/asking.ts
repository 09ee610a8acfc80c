import type { Ledger } from './ledger.ts';
import type { Member, Time } from './place.ts';

/** What a vault answered; status 0 is no answer. */
export interface Answer {
  readonly status: number;
  /** Nothing listened: it was not executed. */
  readonly isUnheard?: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: a client reads whatever was sent.
  readonly body: any;
  readonly by: Member;
}

/** An answer that decides. */
export interface Decision extends Answer {
  /** An earlier attempt may have been executed: it had no answer, or one that does not decide. */
  readonly isUnsure: boolean;
}

/** A request by a client. */
export interface Question {
  readonly path: string;
  readonly ip: string;
  /** A GET without it. */
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** Only a vault whose clock is right is asked. */
  readonly byRightClock?: boolean;
}

/** Asks vaults and counts what they answer. */
export interface Asking {
  once(member: Member, question: Question): Promise<Answer>;
  /** Asks any of them until one decides; undefined when the torture ended before. */
  insist(question: Question): Promise<Decision | undefined>;
  /** Any of the members. */
  any(): Member;
  /** What is asked again and again, and the newest answer to each. */
  waiting(): readonly string[];
  /** Nothing is asked again. */
  end(): void;
}

const TIMEOUT_MS = 20_000;
const PAUSE_MS = 40;
/** The pause doubles up to here: what a dead process holds is free after its lease. */
const PAUSE_MAX_MS = 1_000;

/** Clients of the members, in turn. */
export function createAsking(
  { members, time }: { readonly members: readonly Member[]; readonly time: Time },
  ledger: Ledger,
): Asking {
  let asked = 0;
  let isOver = false;
  const waiting = new Map<Question, string>();
  /** The next one that runs. */
  function any(): Member {
    const up = members.filter((member) => member.pid() !== undefined);
    const from = up.length > 0 ? up : members;
    return from[asked++ % from.length] as Member;
  }

  async function once(by: Member, { path, ip, body, headers = {} }: Question): Promise<Answer> {
    const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
    const init: RequestInit = {
      method: body === undefined ? 'GET' : 'POST',
      // On a connection of its own: on one that was kept and died, a client may send it a second time unseen.
      ...('Idempotency-Key' in headers ? { keepalive: false } : {}),
      headers: { ...type, 'Edge-Connecting-IP': ip, ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    const isUp = by.pid() !== undefined;
    const answer = await by.fetch(path, init, TIMEOUT_MS).then(
      async (response) => ({ status: response.status, body: await response.json(), id: idOf(response) }),
      // A connection may be refused to a request that was sent before, on one that the dead process had open.
      () => ({ status: 0, body: {}, id: '', isUnheard: !isUp }),
    );
    ledger.count(answer.status);
    if (answer.status === 500) {
      // The line of the log comes by a pipe of its own.
      await time.sleep(PAUSE_MS);
      ledger.violate('no answer is a lie', `${path}: 500, ${by.said(answer.id)}`);
    }
    return { ...answer, by };
  }

  async function insist(question: Question): Promise<Decision | undefined> {
    try {
      for (let [isUnsure, pauseMs] = [false, PAUSE_MS]; !isOver; pauseMs = Math.min(2 * pauseMs, PAUSE_MAX_MS)) {
        const by = any();
        const isAsked = !question.byRightClock || !by.isOff();
        const answer = isAsked ? await once(by, question).catch(() => undefined) : undefined;
        if (answer && isDecided(answer, isUnsure)) return { ...answer, isUnsure };
        isUnsure ||= isAsked && answer?.isUnheard !== true;
        waiting.set(question, `${question.path}: ${answer?.status} ${JSON.stringify(answer?.body)}`);
        await time.sleep(pauseMs);
      }
      return undefined;
    } finally {
      waiting.delete(question);
    }
  }

  return {
    once,
    insist,
    any,
    waiting: () => [...waiting.values()],
    end() {
      isOver = true;
    },
  };
}

function idOf({ headers }: Response): string {
  return headers.get('x-request-id') ?? '';
}

/**
 * A key that an earlier attempt may hold is to be asked for again: it is freed within a minute of a death. Of one that
 * no attempt was heard with, "in use" is an answer to judge.
 */
function isDecided({ status, body }: Answer, isUnsure: boolean): boolean {
  return status > 0 && status < 500 && !(isUnsure && body.error === 'idempotency_key_in_use');
}

/** A client's address, of which there are 16 million. */
export function ipOf(n: number): string {
  return `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
}
