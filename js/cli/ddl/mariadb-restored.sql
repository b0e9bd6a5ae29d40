execute immediate concat('select setval({sequence}, ', {floor}, ', 0)')
