import { testRegistrations } from '../support/hostile/registration-tests.ts';

testRegistrations('a node that fails by a seed', false);
