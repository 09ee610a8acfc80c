import { programAt, startNginx } from '../support/proxies.ts';
import { describeProxy } from './proxied.ts';

const program = programAt('nginx');

describeProxy('behind a real nginx', program, startNginx);
