// The encoder of QR codes, a file of its own that the page loads when it shows one.
export { encode } from 'uqr';
