import { expect, test } from 'bun:test';
import { utf8 } from '../../../lib/base/bytes.ts';
import { createMetrics } from '../../../lib/base/metrics.ts';
import { STRANGERS_CHECKS_MAX } from '../../../lib/constants.ts';
import type { OwnedStore } from '../../../lib/db/store.ts';
import { type CodeContext, judgeCode } from '../../../lib/verification/check-code.ts';
import { codeDigest } from '../../../lib/verification/code.ts';
import { createStrangersChecks, STRANGERS_VERDICT } from '../../../lib/verification/find-code.ts';
import { sentCodes } from '../../support/sent-codes.ts';

const codePepper = utf8('pepper');
const [own, other] = ['198.51.100.1', '198.51.100.2'];
const codes = sentCodes();
const { config, identifier, clock } = codes;

const send = (id: string, ip: string, code: string, isBound = false) =>
  codes.send(id, ip, { digest: codeDigest(codePepper, identifier.key, id, code), isBound });

function check(ip: string, code: string, write: OwnedStore['write'] = codes.db.write) {
  const ctx = {
    ...{ config, clock, keys: { codePepper }, db: { ...codes.db, write }, metrics: createMetrics(), log: () => {} },
    ...{ sms: { kind: 'none' }, strangers: createStrangersChecks() },
  };
  return judgeCode(ctx as unknown as CodeContext, { identifier, code, ip, app: 'default' });
}

test('§7 verify: a stranger’s answer does not wait for the write where a code is live', async () => {
  await send('theirs', other, '123456');
  const written = Promise.withResolvers<never>();
  expect(await check(own, '654321', () => written.promise)).toEqual(STRANGERS_VERDICT);
  written.reject(new Error('away'));
});

test('§7 verify: strangers share few checks of a code, and its owner has the others', async () => {
  await send('theirs', other, '123456');
  for (let i = 1; i <= STRANGERS_CHECKS_MAX; i++) await check(`203.0.113.${i}`, '654321');
  await codes.db.idle();
  expect(await check(own, '123456')).toEqual(STRANGERS_VERDICT);
  expect(await check(other, '123456')).toMatchObject({ verified: true });
});

test('a client’s newer code that only its challenge opens leaves the older one good', async () => {
  await send('mine', own, '123456');
  await send('bound', own, '222222', true);
  expect(await check(own, '123456')).toMatchObject({ verified: true });
});
