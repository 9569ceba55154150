;; Snappy compression, after the reference implementation. Memory: the table of where four bytes of a hash were last seen,
;; the input from 65536 on, and the output somewhere behind it. Places are counted from the input's start.
(module
  (memory (export "memory") 2)

  ;; Compresses $length bytes to $to. Writes and reads up to 16 bytes behind what is there. Answers where the output ends.
  (func (export "compress") (param $length i32) (param $to i32) (result i32)
    (local $at i32) (local $next i32) (local $skip i32) (local $last i32) (local $shift i32) (local $word i32)
    (local $slot i32) (local $candidate i32) (local $size i32) (local $emitted i32)
    (local.set $size (local.get $length))
    (block $whole
      (loop $more
        (br_if $whole (i32.lt_u (local.get $size) (i32.const 128)))
        (i32.store8 (local.get $to) (i32.or (local.get $size) (i32.const 128)))
        (local.set $to (i32.add (local.get $to) (i32.const 1)))
        (local.set $size (i32.shr_u (local.get $size) (i32.const 7)))
        (br $more)))
    (i32.store8 (local.get $to) (local.get $size))
    (local.set $to (i32.add (local.get $to) (i32.const 1)))
    (block $done
      ;; in the last 15 bytes no match is looked for
      (br_if $done (i32.lt_u (local.get $length) (i32.const 15)))
      (local.set $last (i32.sub (local.get $length) (i32.const 15)))
      (local.set $shift (i32.add (i32.clz (local.get $length)) (i32.const 1)))
      (if (i32.lt_u (local.get $shift) (i32.const 18)) (then (local.set $shift (i32.const 18))))
      (memory.fill (i32.const 0) (i32.const 0)
        (i32.shl (i32.const 4) (i32.sub (i32.const 32) (local.get $shift))))
      (local.set $at (i32.const 1))
      (loop $search
        (local.set $skip (i32.const 32))
        (local.set $next (local.get $at))
        (loop $step
          ;; steps grow where nothing matches
          (local.set $at (local.get $next))
          (local.set $next (i32.add (local.get $at) (i32.shr_u (local.get $skip) (i32.const 5))))
          (local.set $skip (i32.add (local.get $skip) (i32.const 1)))
          (br_if $done (i32.gt_u (local.get $at) (local.get $last)))
          (local.set $word (i32.load offset=65536 (local.get $at)))
          (local.set $slot
            (i32.shl (i32.shr_u (i32.mul (local.get $word) (i32.const 0x1e35a7bd)) (local.get $shift)) (i32.const 2)))
          (local.set $candidate (i32.load (local.get $slot)))
          (i32.store (local.get $slot) (local.get $at))
          (br_if $step (i32.gt_u (i32.sub (local.get $at) (local.get $candidate)) (i32.const 65535)))
          (br_if $step (i32.ne (i32.load offset=65536 (local.get $candidate)) (local.get $word))))
        (local.set $to (call $literal (local.get $emitted) (local.get $at) (local.get $to)))
        (loop $match
          (local.set $size (call $same (local.get $at) (local.get $candidate) (local.get $length)))
          (local.set $to
            (call $copy (i32.sub (local.get $at) (local.get $candidate)) (local.get $size) (local.get $to)))
          (local.set $at (i32.add (local.get $at) (local.get $size)))
          (local.set $emitted (local.get $at))
          (br_if $done (i32.ge_u (local.get $at) (local.get $last)))
          (i32.store
            (i32.shl
              (i32.shr_u (i32.mul (i32.load offset=65535 (local.get $at)) (i32.const 0x1e35a7bd)) (local.get $shift))
              (i32.const 2))
            (i32.sub (local.get $at) (i32.const 1)))
          (local.set $word (i32.load offset=65536 (local.get $at)))
          (local.set $slot
            (i32.shl (i32.shr_u (i32.mul (local.get $word) (i32.const 0x1e35a7bd)) (local.get $shift)) (i32.const 2)))
          (local.set $candidate (i32.load (local.get $slot)))
          (i32.store (local.get $slot) (local.get $at))
          (br_if $match
            (i32.and
              (i32.le_u (i32.sub (local.get $at) (local.get $candidate)) (i32.const 65535))
              (i32.eq (i32.load offset=65536 (local.get $candidate)) (local.get $word)))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $search)))
    (if (i32.lt_u (local.get $emitted) (local.get $length))
      (then (return (call $literal (local.get $emitted) (local.get $length) (local.get $to)))))
    (local.get $to))

  ;; Bytes that are the same from two places on; the first four are known to be.
  (func $same (param $at i32) (param $candidate i32) (param $length i32) (result i32)
    (local $from i32) (local $differing i64)
    (local.set $from (local.get $at))
    (block $found
      (loop $next
        (br_if $found (i32.ge_u (local.get $at) (local.get $length)))
        (local.set $differing
          (i64.xor (i64.load offset=65536 (local.get $at)) (i64.load offset=65536 (local.get $candidate))))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (local.set $candidate (i32.add (local.get $candidate) (i32.const 8)))
        (br_if $next (i64.eqz (local.get $differing))))
      (local.set $at
        (i32.add (i32.sub (local.get $at) (i32.const 8))
          (i32.wrap_i64 (i64.shr_u (i64.ctz (local.get $differing)) (i64.const 3))))))
    (i32.sub
      (select (local.get $at) (local.get $length) (i32.lt_u (local.get $at) (local.get $length)))
      (local.get $from)))

  ;; Writes the input from $from up to $end as it is.
  (func $literal (param $from i32) (param $end i32) (param $to i32) (result i32)
    (local $length i32) (local $bytes i32) (local $stop i32)
    (local.set $length (i32.sub (local.get $end) (local.get $from)))
    (if (i32.le_u (local.get $length) (i32.const 60))
      (then
        (i32.store8 (local.get $to) (i32.shl (i32.sub (local.get $length) (i32.const 1)) (i32.const 2)))
        (local.set $to (i32.add (local.get $to) (i32.const 1))))
      (else
        (local.set $bytes
          (i32.sub (i32.const 4)
            (i32.shr_u (i32.clz (i32.sub (local.get $length) (i32.const 1))) (i32.const 3))))
        (i32.store8 (local.get $to) (i32.shl (i32.add (i32.const 59) (local.get $bytes)) (i32.const 2)))
        (i32.store offset=1 (local.get $to) (i32.sub (local.get $length) (i32.const 1)))
        (local.set $to (i32.add (local.get $to) (i32.add (local.get $bytes) (i32.const 1))))))
    (local.set $stop (i32.add (local.get $to) (local.get $length)))
    (if (i32.gt_u (local.get $length) (i32.const 256))
      (then
        (memory.copy (local.get $to) (i32.add (local.get $from) (i32.const 65536)) (local.get $length))
        (return (local.get $stop))))
    (loop $next
      (v128.store (local.get $to) (v128.load offset=65536 (local.get $from)))
      (local.set $to (i32.add (local.get $to) (i32.const 16)))
      (local.set $from (i32.add (local.get $from) (i32.const 16)))
      (br_if $next (i32.lt_u (local.get $to) (local.get $stop))))
    (local.get $stop))

  ;; Writes that $length bytes are those $offset bytes before.
  (func $copy (param $offset i32) (param $length i32) (param $to i32) (result i32)
    (local $part i32)
    (loop $next
      (local.set $part (local.get $length))
      (if (i32.gt_u (local.get $part) (i32.const 64))
        (then
          (local.set $part
            (select (i32.const 64) (i32.const 60) (i32.ge_u (local.get $length) (i32.const 68))))))
      (if
        (i32.and (i32.lt_u (local.get $part) (i32.const 12)) (i32.lt_u (local.get $offset) (i32.const 2048)))
        (then
          (i32.store8 (local.get $to)
            (i32.add
              (i32.add (i32.shl (i32.sub (local.get $part) (i32.const 4)) (i32.const 2)) (i32.const 1))
              (i32.shl (i32.shr_u (local.get $offset) (i32.const 8)) (i32.const 5))))
          (i32.store8 offset=1 (local.get $to) (local.get $offset))
          (local.set $to (i32.add (local.get $to) (i32.const 2))))
        (else
          (i32.store8 (local.get $to)
            (i32.add (i32.shl (i32.sub (local.get $part) (i32.const 1)) (i32.const 2)) (i32.const 2)))
          (i32.store16 offset=1 (local.get $to) (local.get $offset))
          (local.set $to (i32.add (local.get $to) (i32.const 3)))))
      (local.set $length (i32.sub (local.get $length) (local.get $part)))
      (br_if $next (local.get $length)))
    (local.get $to)))
