import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { makeProject } from '../support/runtime.ts';

const TSC = join(import.meta.dir, '../../node_modules/typescript/bin/tsc');

const CONSUMER = `
import { createVault, type Env, type Vault } from 'vault';
import { createClient, type Registration, VaultClientError } from 'vault/client';
import { type AuthorizationVerdict, type PaymentOrder, type PaymentVerdict, verifyPayment } from 'vault/payments';

declare const env: Env;
const vault: Vault = createVault(env);
const response: Promise<Response> = vault.fetch(new Request('http://localhost/'), { peer: '127.0.0.1' });
export const closed: Promise<void> = response.then(() => vault.close());
// @ts-expect-error: the settings are required.
createVault({ database: env.database });

declare const order: PaymentOrder;
const verdict: PaymentVerdict = await verifyPayment({ userOpHash: '0x' }, order, 'http://localhost:8545');
export const isFinal: boolean = verdict.status === 'paid' && verdict.final;
export const counted: string = verdict.status === 'paid' ? verdict.userOpHash : '';
const authorization = { by: 'authorization', account: '0x' } as const;
const judged: AuthorizationVerdict = await verifyPayment(authorization, order, 'http://localhost:8545');
export const nonce: string = judged.status === 'paid' ? judged.nonce : '';
// @ts-expect-error: a receipt of an authorization names its account.
await verifyPayment({ by: 'authorization' }, order, 'http://localhost:8545');
const client = createClient({ url: 'http://localhost:8787' });
const made: Registration = await client.register({ email: 'alice@example.com', askCode: () => null });
const { expires_in } = await client.call('POST /api/verify/send', { identifier: made.identifier, channel: 'email' });
export const seconds: number = expires_in;
// @ts-expect-error: no operation has this name.
await client.call('POST /api/verify/nothing');
// @ts-expect-error: a handle takes no code.
await client.verify.send({ identifier: 'alice', channel: 'handle' });
export const words = (error: unknown): string | undefined => (error instanceof VaultClientError ? error.hint : '');
// @ts-expect-error: a verdict is judged before anything is read from it.
verdict.txHash;
`;

test.each([
  ['NodeNext', 'NodeNext'],
  ['Preserve', 'Bundler'],
])("the package's types serve a strict project: module %s, resolution %s", async (module, moduleResolution) => {
  const project = await makeProject('bun');
  const compilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: true, types: [] },
    ...{ module, moduleResolution, target: 'ES2023', lib: ['ES2023', 'DOM', 'DOM.Iterable'] },
  };
  project.write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['consumer.ts'] }));
  project.write('consumer.ts', CONSUMER);
  const child = Bun.spawn([process.execPath, TSC, '--project', project.path], { stdout: 'pipe', stderr: 'inherit' });
  const output = await new Response(child.stdout).text();
  expect({ output, code: await child.exited }).toEqual({ output: '', code: 0 });
  project.remove();
});
