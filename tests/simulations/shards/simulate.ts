import { openDraw } from '../../support/draw.ts';
import { openAgenda } from '../agenda.ts';
import { keysOf } from './keys.ts';
import { openLedger, type Violation } from './ledger.ts';
import {
  AGAIN,
  END,
  LOOK,
  openMessages,
  RELEASE,
  RELEASE_USE,
  SETTLE,
  SETTLE_USE,
  STEPS,
  TAKE,
  WITHDRAW,
  WRITE,
} from './messages.ts';
import { openMoves, ROUTERS } from './moves.ts';
import { type Options, sizesOf } from './options.ts';
import { createShards } from './shards.ts';

/** What a run did. */
export interface Outcome {
  readonly violations: readonly Violation[];
  readonly counts: Readonly<Record<string, number>>;
  /** How often each fault happened, and what it led to. */
  readonly faults: Readonly<Record<string, number>>;
}

const SWEEP_EVERY = 32;
const MOVE_EVERY = 1_000;
/** Of so many messages that many lose their answer, and before that many their router dies. */
const [MESSAGES, LOST, DEATHS] = [4_096, 24, 8];

/** A claim whose router stands still or whose client asks again; or a message that arrives late, for nobody. */
interface Later {
  readonly kind: 'goes on' | 'late message';
  readonly claim: number;
  readonly step: number;
  readonly usedOn: number;
  readonly isHeard: boolean;
}

/** Runs claims over shards until so many are written, with faults, until nothing is under way; then audits. */
export function simulate(options: Options): Outcome {
  const { seed, plant, registrations, progress } = options;
  const sizes = sizesOf(options);
  // What is held for longer is looked at. Some claims are slower than that.
  const lease = sizes.atOnce * 20;
  const draw = openDraw(seed);
  const keys = keysOf(seed, sizes);
  const ledger = openLedger(keys, sizes);
  const shards = createShards(sizes, ledger, plant);
  const moves = openMoves(sizes, plant);
  const send = openMessages({ keys, shards, moves, plant }, () => draw.below(8) === 0);
  const agenda = openAgenda<Later>();
  const claims = new Uint32Array(sizes.atOnce);
  const steps = new Int8Array(sizes.atOnce).fill(END);
  const usedOn = new Int32Array(sizes.atOnce);
  const heard = new Uint8Array(sizes.atOnce);
  const deaths = new Float64Array(STEPS.length);
  const lost = new Float64Array(STEPS.length);
  const counts = {
    'router stood still': 0,
    'message came late': 0,
    'client asked again': 0,
    'held too long, settled or released': 0,
    'sweep cut short': 0,
  };
  let [begun, now, running, nextDay] = [0, 0, 0, sizes.day];
  const isOver = () => ledger.acknowledged >= registrations || begun >= sizes.claims;

  const resume = (k: number, one: Later) => {
    claims[k] = one.claim;
    steps[k] = one.step;
    usedOn[k] = one.usedOn;
    heard[k] = one.isHeard ? 1 : 0;
    running++;
  };
  const begin = (k: number) => {
    const later = agenda.take(now);
    if (later?.kind === 'late message') {
      counts['message came late']++;
      send(later.step, later.claim, draw.below(ROUTERS), now, later.usedOn);
    } else if (later) resume(k, later);
    else if (!isOver()) {
      resume(k, { kind: 'goes on', claim: begun++, step: LOOK, usedOn: 0, isHeard: true });
      if (begun < nextDay) return;
      shards.day++;
      // Every other day is shorter, and leaves some of the budget.
      nextDay += shards.day % 2 ? Math.ceil(sizes.day * 0.7) : sizes.day;
      // Beside arrays of gigabytes Bun would let as much garbage lie.
      Bun.gc(true);
      progress?.(ledger.acknowledged);
    }
  };
  /** The client gets no answer and may ask again. The message may arrive later, or all may go on after a while. */
  const die = (k: number) => {
    const [claim, step] = [claims[k] ?? 0, steps[k] ?? END];
    const state = { claim, step, usedOn: usedOn[k] ?? 0, isHeard: false };
    deaths[step] = (deaths[step] ?? 0) + 1;
    const what = draw.below(4);
    const late = now + draw.below(what === 0 ? sizes.atOnce : lease * 3);
    if (what === 1) counts['router stood still']++;
    if (what === 1) agenda.put(late, { kind: 'goes on', ...state });
    if (what === 2 || what === 0) agenda.put(late, { kind: 'late message', ...state });
    if (heard[k] && draw.below(4) > 0) {
      counts['client asked again']++;
      agenda.put(now + draw.below(lease), { ...state, kind: 'goes on', step: LOOK, isHeard: true });
    }
    steps[k] = END;
    running--;
  };
  const advance = (k: number, from: number, next: number) => {
    const claim = claims[k] ?? 0;
    steps[k] = next;
    if (from === TAKE) usedOn[k] = shards.usedOn(claim);
    if (heard[k]) {
      const isEarly = plant === 'answer-early' && next === WRITE;
      if (next === SETTLE || isEarly) ledger.answered(claim, true);
      else if (next === END && from === RELEASE_USE) ledger.answered(claim, false);
    }
    if (next === END) running--;
  };
  const turn = (k: number) => {
    const step = steps[k] ?? END;
    if (step === END) return begin(k);
    const fault = draw.below(MESSAGES);
    if (fault < DEATHS) return die(k);
    const next = send(step, claims[k] ?? 0, k % ROUTERS, now, usedOn[k] ?? 0);
    if (next === AGAIN) return;
    if (fault < DEATHS + LOST) lost[step] = (lost[step] ?? 0) + 1;
    else advance(k, step, next);
  };
  /** Settles or releases what was held longest, and asks first. */
  const sweep = (kind: 'credential' | 'use') => {
    const old = shards.oldest(kind);
    if (!old || now - old.since < lease) return;
    const router = draw.below(ROUTERS);
    const next = plant === 'drop-reserved' ? RELEASE : send(WITHDRAW, old.claim, router, now, 0);
    if (next === AGAIN) return;
    if (draw.below(8) === 0) {
      counts['sweep cut short']++;
      return;
    }
    counts['held too long, settled or released']++;
    const isWritten = next === SETTLE;
    if (kind === 'use') send(isWritten ? SETTLE_USE : RELEASE_USE, old.claim, router, now, 0);
    else send(isWritten ? SETTLE : RELEASE, old.claim, router, now, 0);
  };

  while (!isOver() || running > 0 || agenda.size > 0 || shards.open > 0) {
    turn(draw.below(sizes.atOnce));
    if (now % SWEEP_EVERY === 0) sweep(now % (SWEEP_EVERY * 2) === 0 ? 'credential' : 'use');
    if (now % MOVE_EVERY === 0) moves.step(draw);
    now++;
  }
  ledger.audit(shards, begun);
  const byStep = (name: string, all: Float64Array) =>
    Object.fromEntries(Array.from(all.subarray(LOOK, END), (count, step) => [`${name} “${STEPS[step]}”`, count]));
  return {
    violations: [...ledger.violations.values()],
    counts: { begun, acknowledged: ledger.acknowledged, refused: ledger.refused, days: shards.day, messages: now },
    faults: {
      ...byStep('router died before', deaths),
      ...byStep('answer lost of', lost),
      ...counts,
      ...moves.counts,
      ...shards.counts,
    },
  };
}
