import { expect, test } from 'bun:test';
import { processorOf, residentOf } from './processor.ts';

/**
 * Until the process has used 150 ms of processor time: on a busy machine that may take long. To ask for it takes mostly
 * the system's time, which does not count here.
 */
const BURN = `const until = process.cpuUsage().user + 150_000;
  while (process.cpuUsage().user < until) for (let i = 0; i < 1e5; i++);`;
const CHILD = `${BURN} console.log('done'); await Bun.stdin.text();`;
const PARENT = `
  const worker = new Worker(URL.createObjectURL(new Blob([${JSON.stringify(`${BURN} postMessage('done');`)}])));
  await new Promise((resolve) => worker.addEventListener('message', resolve));
  const child = Bun.spawn([process.execPath, '-e', ${JSON.stringify(CHILD)}], { stdin: 'pipe', stdout: 'pipe' });
  await child.stdout.getReader().read();
  console.log('done');
  await Bun.stdin.text();
  child.stdin.end();
  await child.exited;
  process.exit();`;

test.if(process.platform === 'linux')('the processor of a process counts its threads and its children', async () => {
  const parent = Bun.spawn([process.execPath, '-e', PARENT], { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' });
  await parent.stdout.getReader().read();
  const { tree, main } = processorOf(parent.pid);
  const resident = residentOf(parent.pid);
  parent.stdin.end();
  await parent.exited;
  // 150 ms each of a thread and a child, but for what the first thread used meanwhile.
  expect(tree - main).toBeGreaterThan(200_000);
  expect(resident).toBeGreaterThan(2 ** 20);
  expect(processorOf(parent.pid)).toEqual({ tree: 0, main: 0 });
});
