// bun scripts/testing/prepare.ts: makes what each process of the tests would else make for itself, on a fresh checkout.
import { compileContracts } from '../contracts.ts';
import { buildAlto } from '../dev-stack/alto.ts';

/** Runs this file in a process of its own: to compile the contracts blocks the one that does it. Throws if it fails. */
export async function prepareTests(): Promise<void> {
  const { exited } = Bun.spawn([process.execPath, import.meta.path], { stdio: ['ignore', 'inherit', 'inherit'] });
  if ((await exited) !== 0) throw new Error('what the tests need was not made');
}

if (import.meta.main) await Promise.all([compileContracts(), buildAlto()]);
