import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { isLong } from '../long.ts';
import { SEED } from '../seed.ts';
import { type RegistrationRace, raceRegistrations } from './registration-race.ts';

/** `SEED=… npm test -- hostile-registrations` draws the same again. */
const COUNT = isLong ? 300 : 40;

/** How a node fails in which nobody looks for events. */
const FAULTS = 'behind error known late lost lost-after no-block no-code no-receipt nonce other-receipt'.split(' ');

/** The tests of one world. Each world has a file of its own, so that they run at the same time. */
export function testRegistrations(name: string, isLying: boolean): void {
  let ended: RegistrationRace | undefined;
  const race = () => ended as RegistrationRace;
  beforeAll(async () => {
    ended = await raceRegistrations({ seed: SEED, count: COUNT, isLying });
    console.log(`SEED=${SEED} ${name}: ${JSON.stringify(ended.tally)}`);
  });
  afterAll(() => {
    ended = undefined;
  });

  describe(`${COUNT} registrations over ${name} (SEED=${SEED})`, () => {
    // A lie takes the place of many a fault.
    test('each way in which a node fails came about', () =>
      expect((isLying ? ['lie'] : FAULTS).filter((name) => !(name in race().tally))).toEqual([]));

    test('none is confirmed without the registry’s event', () => expect(race().untrueConfirmed).toEqual([]));

    test('none is failed that the registry has', () => expect(race().untrueFailed).toEqual([]));

    test('each is on the chain and confirmed in the end', () => expect(race().lost).toEqual([]));

    test('no honest request was refused but to be tried again', () => expect(race().refusals).toEqual([]));

    test('each passkey finds its account on a device that never saw it', () => expect(race().unreachable).toEqual([]));

    test('the registrar sent hardly more transactions than registrations', () => {
      expect(race().wasted).toBeWithin(0, COUNT / 4);
    });
  });
}
