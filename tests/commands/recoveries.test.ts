import { afterAll, expect, test } from 'bun:test';
import { createPasskey } from '../../scripts/dev-stack/passkey.ts';
import { temporaryFolder } from '../support/databases.ts';
import { startProgram } from '../support/program.ts';
import { createOwner, recoveryBody, startRecoveryChain } from '../support/recovery.ts';
import { runProgram } from '../support/run.ts';
import { until } from '../support/until.ts';
import { startVault, VAULT_SECRET } from '../support/vault.ts';

const chain = await startRecoveryChain();
const folder = temporaryFolder();
afterAll(async () => {
  await chain.stop();
  folder.remove();
});

test('vault recoveries lists the open ones, masked, and has the guardian withdraw one while the vault runs', async () => {
  const run = (...args: string[]) => runProgram(['recoveries', ...args], { cwd: folder.path, vars: chain.vars });
  const t = await startVault(chain.vars);
  const owner = await createOwner(chain, t, 'alice@example.com');
  const body = recoveryBody({ ...t, clock: { ...t.clock, now: () => Date.now() } }, owner, createPasskey());
  await t.stop();
  const program = await startProgram({ ...chain.vars, VAULT_SECRET }, { cwd: folder.path });
  expect((await run('list')).out).toBe('No recovery found.\n');
  const asked = await fetch(`${program.url}/api/recoveries`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  expect(asked.status).toBe(202);
  const account = owner.account.toLowerCase();
  expect((await run('list')).out).toMatch(
    new RegExp(`^1 {2}${account} {2}a\\*\\*\\*@example.com {2}\\S+Z {2}proposed\\n$`),
  );
  expect((await run('cancel', owner.account)).out).toBe(`${account}: the guardian will withdraw\n`);
  await until('it is withdrawn', async () => (await chain.events(owner.account)).cancelled > 0);
  expect((await run('cancel', 'x')).code).toBe(2);
  expect(JSON.parse((await run('list', '--account', owner.account, '--json')).out)).toMatchObject([{ account }]);
  await program.stop();
});
