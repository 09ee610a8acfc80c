import { openDraw } from './draw.ts';
import { startVault, type TestVault } from './vault.ts';

const MINUTE = 60_000;
const DAY_MINUTES = 1_440;
/** Requests that are under way at the same time. */
const WIDTH = 32;

/** Who attacks (single IPv4 addresses, and /64 networks of one /48), and how many honest people there are. */
export interface SiegeForce {
  readonly ipv4: number;
  readonly networks: number;
  readonly honest: number;
  readonly seed: number;
}

/** What a day came to. */
export interface SiegeResult {
  readonly honest: {
    /** The first send was refused, or brought the pass alone. */
    neededPass: number;
    /** No code, also with the passes in the mailbox. */
    refused: number;
    verified: number;
  };
  readonly attacker: {
    sent: number;
    refused: number;
    /** Guesses that were compared with a code of which the attacker knows, those beside it, and those that hit. */
    guesses: number;
    polls: number;
    hits: number;
  };
  mails: number;
  passOnly: number;
}

/** One day's surroundings. */
interface Siege {
  readonly t: TestVault;
  readonly mailbox: Map<string, { code: string | undefined; pass: string | undefined }[]>;
  readonly result: SiegeResult;
  readonly guess: () => string;
}

/**
 * One day. Honest people, half of whom verified before, come at random minutes from addresses of their own. The
 * attacker knows when. Up to an hour before, it uses up the person's sends and guesses at the codes it asked for. It
 * polls with wrong codes while the honest one is live. It sends with the passes of mailboxes of its own.
 */
export async function besiege(force: SiegeForce): Promise<SiegeResult> {
  const draw = openDraw(force.seed);
  const mailbox: Siege['mailbox'] = new Map();
  const result: SiegeResult = {
    honest: { neededPass: 0, refused: 0, verified: 0 },
    attacker: { sent: 0, refused: 0, guesses: 0, polls: 0, hits: 0 },
    mails: 0,
    passOnly: 0,
  };
  const send = async ({ to, text }: { to: string; text: string }) => {
    const [code] = /^\d{6}$/m.exec(text) ?? [];
    mailbox.set(to, [...(mailbox.get(to) ?? []), { code, pass: /#(\w+-\w+)/.exec(text)?.[1] }]);
    result.mails++;
  };
  const vars = { EMAIL_PROVIDER: 'smtp', EMAIL_FROM: 'vault@example.net', SMTP_URL: 'smtp://127.0.0.1' };
  const t = await startVault({ ...vars, LOG_LEVEL: 'error' }, { mail: { send } });
  const siege = { t, mailbox, result, guess: () => String(draw.below(1_000_000)).padStart(6, '0') };
  try {
    await t.call('GET /api/sessions/status');
    const people = Array.from({ length: force.honest }, (_, n) => ({ n, at: 60 + draw.below(DAY_MINUTES - 60) }));
    for (const { n } of people.filter(({ n }) => n % 2 === 0)) await verifyBefore(t, personOf(n));
    const agenda = plan(siege, force, people);
    for (let minute = 0; minute < DAY_MINUTES; minute++) {
      for (const step of [agenda.attacks, agenda.visits]) await all(step.get(minute) ?? []);
      await t.clock.advance(MINUTE);
    }
    const [row] = await t.rows('SELECT count(*) AS n FROM verifications WHERE wrong_guesses >= 20');
    result.passOnly = Number(row?.['n']);
    return result;
  } finally {
    await t.stop();
  }
}

const personOf = (n: number) => `person${n}@example.com`;
const homeOf = (n: number) => `100.${64 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`;
const ipv4Of = (n: number) => `198.${18 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`;
const networkOf = (n: number) => `2001:db8:0:${n.toString(16)}::1`;

type Step = () => Promise<unknown>;

function verifyBefore(t: TestVault, identifier: string) {
  return t.rows('INSERT INTO verifications (identifier, verified_at) VALUES (:key, 1)', { key: `email:${identifier}` });
}

/** What happens in which minute. Each address of the attacker has three sends: most are for people, some for passes. */
function plan(siege: Siege, { ipv4, networks }: SiegeForce, people: readonly { n: number; at: number }[]) {
  const attacks = new Map<number, Step[]>();
  const visits = new Map<number, Step[]>();
  const add = (to: typeof attacks, minute: number, step: Step) => to.set(minute, [...(to.get(minute) ?? []), step]);
  const sources = [
    ...Array.from({ length: ipv4 }, (_, n) => ipv4Of(n)),
    ...Array.from({ length: networks }, (_, n) => networkOf(n)),
  ];
  const sends = sources.flatMap((ip) => [ip, ip, ip]);
  const own = sends.splice(0, Math.floor(sends.length / 5));
  for (const [i, ip] of own.entries())
    add(attacks, i % (DAY_MINUTES / 2), () => spendPasses(siege, ip, `box${i}@evil.example`, sources));
  const victims = people.toSorted((a, b) => a.at - b.at);
  // Five a person, and round again while there are sends: the later rounds fill the hours before.
  for (const [i, ip] of sends.entries()) {
    const { n, at } = victims[Math.floor(i / 5) % victims.length] as (typeof victims)[number];
    const hoursBefore = Math.floor(i / (5 * victims.length)) % 24;
    add(attacks, Math.max(0, at - 30 - 60 * hoursBefore), () => fill(siege, ip, personOf(n)));
  }
  for (const { n, at } of victims) add(visits, at, () => visit(siege, n, sources));
  return { attacks, visits };
}

/** Asks for a code in somebody's name and guesses at it, five times. */
async function fill({ t, result, guess }: Siege, ip: string, identifier: string): Promise<void> {
  const { attacker } = result;
  const who = { identifier, channel: 'email' };
  const { status } = await t.from(ip).call('POST /api/verify/send', who);
  if (status !== 200) {
    attacker.refused++;
    return;
  }
  attacker.sent++;
  for (let i = 0; i < 5; i++) {
    const { body } = await t.from(ip).call('POST /api/verify/check', { ...who, code: guess() });
    if (body.attempts_remaining !== undefined || body.verified) attacker.guesses++;
    if (body.verified) attacker.hits++;
  }
}

/** Gets a pass to a mailbox of the attacker's own, and sends with it from other addresses. */
async function spendPasses({ t, mailbox, result }: Siege, ip: string, identifier: string, sources: readonly string[]) {
  const { attacker } = result;
  const who = { identifier, channel: 'email' };
  const { status } = await t.from(ip).call('POST /api/verify/send', who);
  const pass = mailbox.get(identifier)?.at(-1)?.pass;
  if (status !== 200 || pass === undefined) attacker.refused++;
  for (let i = 0; pass !== undefined && i < 5; i++) {
    const from = sources[i % sources.length] ?? ip;
    const answer = await t.from(from).call('POST /api/verify/send', { ...who, pass });
    if (answer.status === 200) attacker.sent++;
    else attacker.refused++;
  }
}

/** An honest person: asks, presses the newest pass where that is needed, asks again, and types the code. */
async function visit({ t, mailbox, result, guess }: Siege, n: number, strangers: readonly string[]): Promise<void> {
  const { honest, attacker } = result;
  const identifier = personOf(n);
  const { call, post } = t.from(homeOf(n));
  const who = { identifier, channel: 'email' };
  const ask = async () => {
    const { status } = await call('POST /api/verify/send', who);
    return status === 200 ? mailbox.get(identifier)?.at(-1)?.code : undefined;
  };
  let code = await ask();
  if (code === undefined) {
    honest.neededPass++;
    const pass = mailbox.get(identifier)?.findLast((message) => message.pass !== undefined)?.pass;
    if (pass !== undefined) await post('/pass', new URLSearchParams({ pass }));
    code = await ask();
  }
  if (code === undefined) {
    honest.refused++;
    return;
  }
  for (const ip of strangers.slice(0, 10)) {
    const { body } = await t.from(ip).call('POST /api/verify/check', { ...who, code: guess() });
    attacker.polls++;
    if (body.verified) attacker.hits++;
  }
  if ((await call('POST /api/verify/check', { ...who, code })).body.verified) honest.verified++;
}

async function all(steps: readonly Step[]): Promise<void> {
  for (let i = 0; i < steps.length; i += WIDTH) await Promise.all(steps.slice(i, i + WIDTH).map((step) => step()));
}
