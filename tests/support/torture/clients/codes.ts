import { ipOf } from '../asking.ts';
import { type ClientPlace, isTimeOff, readNow } from './client.ts';
import { register } from './registrations.ts';

/** An address with a live code. */
interface Coded {
  readonly identifier: string;
  readonly channel: 'email';
  readonly code: string;
  readonly ip: string;
  readonly sentAt: number;
  /** It is from a vault whose clock was hours off. */
  readonly wasOff: boolean;
}

/** Longer than this is near the end of a code's life. */
const FRESH_MS = 60_000;

/** Gets a code and gives it three times at once: it verifies once. Then registers, at times. */
export async function proveAddress(place: ClientPlace): Promise<void> {
  const { ledger, asking, draw } = place;
  const coded = await getCode(place);
  if (!coded) return;
  const { identifier, channel, code, ip } = coded;
  const check = () => asking.insist({ path: '/api/verify/check', ip, body: { identifier, channel, code } });
  const answers = (await Promise.all([check(), check(), check()])).filter((one) => one !== undefined);
  const good = answers.filter(({ body }) => body.verified === true);
  if (good.length > 1) ledger.violate('each code verifies once', `${identifier}: ${good.length} times`);
  const isSure = answers.length === 3 && answers.every(({ isUnsure }) => !isUnsure);
  const isFresh = place.world.time.now() < coded.sentAt + FRESH_MS && !isTimeOff(place);
  if (good.length === 0 && isSure && isFresh)
    ledger.violate('no answer is a lie', `${identifier}: its code is refused: ${JSON.stringify(answers[0]?.body)}`);
  if (!good[0]) return;
  ledger.verified.set(identifier, good.length);
  const found = await readNow(place, `/api/verify/status?identifier=${identifier}&channel=email`, ip);
  if (found) ledger.checked('verification is known elsewhere');
  if (found && found.verified !== true)
    ledger.violate('no process answers older than what was acknowledged', `${identifier} is not verified`);
  if (draw.below(3) === 0) await register(place, identifier, good[0].body.attestation);
}

/** Guesses at a code from many vaults at once: no more guesses count than there are, then not even the code does. */
export async function guessCode(place: ClientPlace): Promise<void> {
  const { ledger, asking } = place;
  const coded = await getCode(place);
  if (!coded) return;
  const { identifier, channel, code, ip } = coded;
  const wasOff = coded.wasOff || isTimeOff(place);
  const guess = (by: string) =>
    asking.once(asking.any(), { path: '/api/verify/check', ip, body: { identifier, channel, code: by } });
  const wrong = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
  const answers = await Promise.all(Array.from({ length: 9 }, () => guess(wrong)));
  // A code from a vault whose clock is hours off is none to another: its client then has no guesses to lose.
  const wrongs = answers.filter(({ body }) => body.message === 'Incorrect code');
  const judged = wrongs.filter(({ body }) => body.attempts_remaining !== undefined);
  const isUnknown = wrongs.length === answers.length && judged.length === 0;
  if (isUnknown && !wasOff && !isTimeOff(place))
    ledger.violate('no answer is a lie', `${identifier}: no guess of its own client counts`);
  const remaining = judged.map(({ body }) => Number(body.attempts_remaining));
  ledger.checked('wrong guesses at one code');
  if (judged.length > 5 || new Set(remaining).size < remaining.length)
    ledger.violate('no limit is exceeded', `${identifier}: guesses left ${remaining}`);
  if (answers.some(({ body }) => body.verified)) ledger.violate('no answer is a lie', `${identifier}: a wrong code`);
  const last = await guess(code);
  if (last.body.verified && judged.length >= 5)
    ledger.violate('no limit is exceeded', `${identifier} verified after ${judged.length} wrong guesses`);
  if (last.body.verified) ledger.verified.set(identifier, 1);
}

/** Many at once from one client, and many clients for one address: no more go through than each may have. */
export async function crowd(place: ClientPlace): Promise<void> {
  const { ledger, asking, draw } = place;
  const [n, ip] = [place.next(), ipOf(place.next())];
  const many = Array.from({ length: 8 }, (_, i) => i);
  const kinds = {
    'sends of one client': [3, (i: number) => send(`c${n}n${i}@example.com`, ip)],
    'sends to one address': [5, () => send(`c${n}@example.com`, ipOf(place.next()))],
    'sessions of one client': [3, (i: number) => open(`crowd${n}n${i}`)],
  } as const;
  const names = Object.keys(kinds) as (keyof typeof kinds)[];
  const name = names[draw.below(names.length)] ?? 'sends of one client';
  const [limit, ask] = kinds[name];
  const wasOff = isTimeOff(place);
  const answers = await Promise.all(many.map(ask));
  const through = answers.filter(({ status }) => status === 200).length;
  // Windows are counted by the clock of the vault that answers.
  if (wasOff || isTimeOff(place)) return;
  ledger.checked(name);
  if (through > limit) ledger.violate('no limit is exceeded', `${name}: ${through} of ${limit}`);

  function send(identifier: string, from: string) {
    return asking.once(asking.any(), { path: '/api/verify/send', ip: from, body: { identifier, channel: 'email' } });
  }

  async function open(handle: string) {
    const did = `did:key:z${handle}`;
    const answer = await asking.once(asking.any(), { path: '/api/sessions', ip, body: { handle, did } });
    // By a clock that is a day behind it has lapsed already, and the other vault removes it.
    if (answer.status === 200 && !wasOff && !isTimeOff(place)) ledger.sessions.set(handle, did);
    return answer;
  }
}

async function getCode(place: ClientPlace): Promise<Coded | undefined> {
  const n = place.next();
  const who = { identifier: `t${n}@example.com`, channel: 'email' } as const;
  const sent = await place.asking.insist({ path: '/api/verify/send', ip: ipOf(n), body: who });
  if (sent?.status !== 200) return undefined;
  const mail = place.world.post.catcher.messages.findLast(({ to }) => to.includes(who.identifier));
  const code = /^\d{6}$/m.exec(mail?.text ?? '')?.[0];
  if (code === undefined) {
    place.ledger.violate('no answer is a lie', `${who.identifier}: a send was answered 200, and no mail came`);
    return undefined;
  }
  return { ...who, code, ip: ipOf(n), sentAt: place.world.time.now(), wasOff: sent.by.isOff() };
}
