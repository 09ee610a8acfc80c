import { expect, test } from 'bun:test';
import { startService } from '../../../scripts/dev-stack/service.ts';

test('a program that ends because a silent one has its port is started again, at another port', async () => {
  const ports: number[] = [];
  const starting = startService({
    name: 'taken',
    command: (port) => {
      ports.push(port);
      return [process.execPath, '-e', ''];
    },
    // Who took the port accepts the connection and never answers.
    isUp: () => new Promise(() => undefined),
  });
  expect(await starting.catch(String)).toMatch('taken did not start in 3 tries');
  expect(ports).toHaveLength(3);
});

test('an answer that was lost is asked for again', async () => {
  let asked = 0;
  const service = await startService({
    name: 'forgetful',
    command: () => [process.execPath, '-e', 'setInterval(() => {}, 1000)'],
    isUp: () => (++asked === 1 ? new Promise(() => undefined) : Promise.resolve(true)),
  });
  await service.stop();
  expect(asked).toBe(2);
});
