import { programAt, startCaddy } from '../support/proxies.ts';
import { describeProxy } from './proxied.ts';

const program = programAt('caddy');

if (program) describeProxy('behind a real Caddy', (setup) => startCaddy({ ...setup, program }));
else console.log('no Caddy on this machine: its tests are left out');
