import { programAt, startNginx } from '../support/proxies.ts';
import { describeProxy } from './proxied.ts';

const program = programAt('nginx');

if (program) describeProxy('behind a real nginx', (setup) => startNginx({ ...setup, program }));
else console.log('no nginx on this machine: its tests are left out');
