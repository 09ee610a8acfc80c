import { beforeAll, expect, test } from 'bun:test';
import { openDraw } from '../support/draw.ts';
import { isLong } from '../support/long.ts';
import { openMachine } from '../support/registry-model/machine.ts';
import { createModel, FAULTS, type Fault, type Model, type Outcome } from '../support/registry-model/model.ts';
import { createWorld, drawStep, START, type Step, tellStory, type World } from '../support/registry-model/world.ts';
import { SEED } from '../support/seed.ts';

// The registry's byte code beside a model of it, through random calls of a seed; and the events by themselves, as an
// index reads them, beside the views.

const STEPS = isLong ? 100_000 : 8_000;
/** So often the views are compared. */
const VIEWS_EVERY = 100;
/** One history is this long: by then most DIDs have ended, and another world begins. */
const HISTORY = 400;
/** The short form draws the same each time, so that it meets every fault each time. */
const DRAWN = isLong ? SEED : 4;

interface Taken {
  readonly step: Step;
  readonly outcome: Outcome;
}

const histories: { readonly world: World; readonly taken: readonly Taken[] }[] = [];
/** How steps of each kind ended. */
const ends = new Map<string, Set<string>>();
/** So many histories are lived again with each fault. */
const KEPT = 50;

beforeAll(async () => {
  const draw = openDraw(DRAWN);
  const started = performance.now();
  for (let i = 0; i * HISTORY < STEPS; i++) {
    const lived = await live(draw, i);
    if (i < KEPT) histories.push(lived);
  }
  if (isLong) console.log(`${STEPS} steps in ${Math.round((performance.now() - started) / 1000)} s, SEED=${DRAWN}`);
});

/** One history of the registry and its model. Throws with the seed at the first difference. */
async function live(draw: ReturnType<typeof openDraw>, number: number) {
  const machine = await openMachine();
  const world = createWorld(machine.factory1, machine.implementation1);
  const model = createModel(world);
  const index = createIndex();
  const taken: Taken[] = [];
  const story = tellStory(world, number);
  let now = START;
  for (let i = 0; i < HISTORY; i++) {
    const step = story[i] ?? drawStep(draw, world, now, model);
    now = step.time;
    const outcome = await machine.step(world, step);
    const told = { seed: DRAWN, i, step };
    expect({ ...told, outcome: model.step(step) }).toEqual({ ...told, outcome });
    if ('events' in outcome) for (const event of outcome.events) index.read(event);
    taken.push({ step, outcome });
    ends.set(step.name, (ends.get(step.name) ?? new Set()).add('error' in outcome ? outcome.error : 'done'));
    if (i % VIEWS_EVERY === VIEWS_EVERY - 1) await compareViews(machine, world, model, index);
  }
  return { world, taken };
}

async function compareViews(
  { view }: Awaited<ReturnType<typeof openMachine>>,
  { names, dids, people }: World,
  model: Model,
  index: ReturnType<typeof createIndex>,
): Promise<void> {
  for (const name of names) {
    const led = await view('aliases', name);
    expect([model.alias(name), index.alias(name)]).toEqual([led, led] as never);
  }
  const active: string[] = [];
  for (const did of dids) {
    const [controller, , , , isActive] = (await view('resolve', did)) as [string, ...unknown[]];
    const isRightful = await view('isRightful', did);
    const isHeld = !/^0x0+$/.test(controller);
    expect(model.did(did)).toBe(isHeld ? `${controller.toLowerCase()} ${isActive} ${isRightful}` : 'none');
    expect(index.controller(did)).toBe(isHeld ? controller.toLowerCase() : undefined);
    if (isActive) active.push(controller);
  }
  // Nobody has two active DIDs.
  expect(new Set(active).size).toBe(active.length);
  for (const one of people) expect(model.place(one)).toBe((await view('controllerToDid', one)) as string);
}

/** What an index of events makes of them. */
function createIndex() {
  const controllers = new Map<string, string>();
  const aliases = new Map<string, string>();
  return {
    read(event: string): void {
      const [kind, subject = '', first = '', second = ''] = event.split(' ');
      if (kind === 'DIDRegistered') {
        controllers.set(subject, first);
        for (const [name, did] of aliases) if (did === subject) aliases.delete(name);
      }
      if (kind === 'DIDMoved') controllers.set(subject, second);
      if (kind === 'AliasRegistered') aliases.set(subject, first);
      if (kind === 'AliasFreed') aliases.delete(subject);
    },
    alias: (name: string) => aliases.get(name) ?? `0x${'0'.repeat(64)}`,
    controller: (did: string) => controllers.get(did),
  };
}

test(`${STEPS} random calls come to what the model says, and each kind of them to both ends`, () => {
  const errors = new Set(Array.from(ends.values(), (all) => [...all]).flat());
  for (const [name, all] of ends)
    expect({ name, isDone: all.has('done'), isRefused: all.size > 1 || name.startsWith('commit') }).toEqual({
      name,
      isDone: true,
      isRefused: true,
    });
  expect([...errors].sort()).toEqual([
    'AliasNotSettled',
    'AliasTaken',
    'ConsentEndsTooLate',
    'ConsentExpired',
    'ControllerTaken',
    'DidTaken',
    'NotActive',
    'NotAliasController',
    'NotController',
    'NotKeyOf',
    'NotLegacyAccount',
    'NotOffered',
    'NotOpenYet',
    'OwnDid',
    'done',
  ]);
});

test.each(FAULTS.map((fault) => [fault]))('the same calls tell a registry apart in which %s', (fault) => {
  expect(histories.some(({ world, taken }) => differs(world, taken, fault))).toBe(true);
});

function differs(world: World, taken: readonly Taken[], fault: Fault): boolean {
  const model = createModel(world, fault);
  return taken.some(({ step, outcome }) => !Bun.deepEquals(model.step(step), outcome));
}
