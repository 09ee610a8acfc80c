import { testRegistrations } from '../support/hostile/registration-tests.ts';

testRegistrations('a node that lies, beside an honest one that fails', true);
