// Random steps of owners, guardians, strangers and time on the account's real bytecode, against its rules.
import { test } from 'bun:test';
import creationCode from '../../../contracts/creation-code.json' with { type: 'json' };
import { describeBroken, walk } from '../../support/account-walk/walk.ts';
import { isLong } from '../../support/long.ts';
import { SEED } from '../../support/seed.ts';

const STEPS = isLong ? 1_000_000 : 4_000;

test(`a second account keeps its rules in ${STEPS} random steps`, () => {
  const started = performance.now();
  const broken = walk(creationCode.AccountFactory2 as `0x${string}`, SEED, STEPS);
  if (broken) throw new Error(describeBroken(broken));
  if (isLong) console.log(`${STEPS} steps in ${Math.round((performance.now() - started) / 1000)} s, SEED=${SEED}`);
});
