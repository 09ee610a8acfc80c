import { expect, test } from 'bun:test';
import { signWebhook, webhookHeaders } from '../../../lib/base/webhook-signature.ts';

/** The vector of the specification (standardwebhooks.com, "Signature scheme"). */
const SECRET = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64');
const MESSAGE = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' };
const SIGNATURE = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';

test('the vector that the standard publishes', () => {
  expect(signWebhook([SECRET], MESSAGE, 1614265330)).toBe(SIGNATURE);
});

test('each secret signs, so that one can be replaced', () => {
  const other = Buffer.alloc(32, 7);
  const [first, second, ...more] = signWebhook([other, SECRET], MESSAGE, 1614265330).split(' ');
  expect([second, more]).toEqual([SIGNATURE, []]);
  expect(first).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
  expect(first).not.toBe(second);
});

test('the headers name the second in which the message leaves', () => {
  expect(webhookHeaders([SECRET], MESSAGE, 1614265330999)).toMatchObject({
    'webhook-id': MESSAGE.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': SIGNATURE,
  });
});
