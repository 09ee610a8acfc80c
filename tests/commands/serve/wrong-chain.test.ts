import { afterEach, expect, test } from 'bun:test';
import { temporaryFolder } from '../../support/databases.ts';
import { type Program, startProgram } from '../../support/program.ts';
import { resultOf, startUpstream, type Upstream } from '../../support/upstream.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function start(answer: Upstream['answer'], vars: Record<string, string> = {}): Promise<Program> {
  const node = startUpstream();
  const folder = temporaryFolder();
  ends.push(node.stop, folder.remove);
  node.answer = answer;
  const program = await startProgram({ RPC_URL: node.url, ...vars }, { cwd: folder.path });
  ends.push(() => program.stop('SIGKILL'));
  return program;
}

test('a node of another chain ends the start with 2, and the message names both settings and both ids', async () => {
  const asked = Promise.withResolvers<void>();
  const isAnswered = Promise.withResolvers<void>();
  const program = await start(
    async (call) => {
      if (call.body.method !== 'eth_chainId') return resultOf(call, null);
      asked.resolve();
      await isAnswered.promise;
      return resultOf(call, '0x14a34');
    },
    { CHAIN_ID: '8453' },
  );
  await asked.promise;
  // The vault answers while the node has not.
  expect((await fetch(`${program.url}/healthz`)).status).toBe(200);
  isAnswered.resolve();
  expect(await program.exited).toBe(2);
  const message = 'RPC_URL is an endpoint of chain 84532, but CHAIN_ID is 8453: set both to the same chain.';
  expect(program.output()).toContain(`vault: ${message}`);
  expect(program.output()).toContain('"event":"wrong_chain"');
  expect(program.output()).toContain('"event":"stopped"');
});

test.each<[string, Upstream['answer']]>([
  ['of the chain', (call) => resultOf(call, '0x14a34')],
  ['that gives no answer', () => new Response(null, { status: 503 })],
  ['that answers what is no number', (call) => resultOf(call, 'none')],
])('a node %s ends nothing', async (_, answer) => {
  const asked = Promise.withResolvers<void>();
  const program = await start((call) => {
    asked.resolve();
    return answer(call, new Request('http://localhost'));
  });
  await asked.promise;
  expect((await fetch(`${program.url}/healthz`)).status).toBe(200);
  expect(await program.stop()).toBe(0);
  expect(program.output()).not.toContain('wrong_chain');
});
