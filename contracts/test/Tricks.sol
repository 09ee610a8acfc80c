// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title For tests: does what anyone may do on a chain to be taken for a payer
contract Tricks {
    /// @notice Emits any log.
    function emitLog(bytes32[3] calldata topics, bytes calldata data) external {
        bytes memory copy = data;
        (bytes32 first, bytes32 second, bytes32 third) = (topics[0], topics[1], topics[2]);
        assembly ("memory-safe") {
            log4(add(copy, 32), mload(copy), first, second, third, 0)
        }
    }

    /// @notice Makes calls in order, all or none.
    function run(address[] calldata targets, bytes[] calldata data) external {
        for (uint256 i = 0; i < targets.length; ++i) {
            (bool done,) = targets[i].call(data[i]);
            require(done);
        }
    }

    address private _target;
    bytes private _data;

    /// @notice The call that is made whatever else this contract is told.
    function keep(address target, bytes calldata data) external {
        (_target, _data) = (target, data);
    }

    fallback() external {
        (bool done,) = _target.call(_data);
        require(done);
    }

    bytes private _code;

    /// @notice Deploys `code` always at the same address: what is deployed asks for it here.
    function deploy(bytes calldata code) external returns (address) {
        _code = code;
        return address(new Asking{salt: 0}());
    }

    /// @notice The address of `deploy`.
    function deployed() external view returns (address) {
        bytes32 hash = keccak256(type(Asking).creationCode);
        return address(uint160(uint256(keccak256(abi.encodePacked(hex"ff", address(this), bytes32(0), hash)))));
    }

    function codeToDeploy() external view returns (bytes memory) {
        return _code;
    }
}

contract Asking {
    constructor() {
        bytes memory code = Tricks(msg.sender).codeToDeploy();
        assembly ("memory-safe") {
            return(add(code, 32), mload(code))
        }
    }
}
