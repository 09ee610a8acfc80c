import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { makeProject } from '../support/runtime.ts';

const TSC = join(import.meta.dir, '../../node_modules/typescript/bin/tsc');

const CONSUMER = `
import { createVault, type Env, type Vault } from 'vault';
import { type PaymentOrder, type PaymentVerdict, verifyPayment } from 'vault/payments';

declare const env: Env;
const vault: Vault = createVault(env);
const response: Promise<Response> = vault.fetch(new Request('http://localhost/'), { peer: '127.0.0.1' });
export const closed: Promise<void> = response.then(() => vault.close());
// @ts-expect-error: the settings are required.
createVault({ database: env.database });

declare const order: PaymentOrder;
const verdict: PaymentVerdict = await verifyPayment({ userOpHash: '0x' }, order, 'http://localhost:8545');
export const isFinal: boolean = verdict.status === 'paid' && verdict.final;
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
